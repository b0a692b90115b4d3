"""What is refused for what another entry, upstream or an overlay brings."""

import re

import pytest

from tests.queue.cases.hostile import BASE, FILE, GOOD, LINES, Capture, link, next_of, push, refused
from tests.queue.cases.lane import Lane

NEW = "vllm/new.py"


@pytest.fixture
def lane(lane: Lane) -> Lane:
    """A lane that carries one pull request of two new files, one in a new folder."""
    lane.start(BASE)
    push(lane, {NEW: b"new = 1\n", "vllm/deep/er/x.py": b"x = 1\n"}, number=1)
    assert lane.run("add", "1") == 0
    return lane


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("vllm/New.py", "it differs only in case or Unicode form from vllm/new.py, which 1 brings"),
        (
            "vllm/Deep/y.py",
            "its folder vllm/Deep differs only in case or Unicode form from vllm/deep",
        ),
        (
            "vllm/deep/ER",
            "it differs only in case or Unicode form from vllm/deep/er, which 1 brings",
        ),
        ("vllm/NEW.py/x.py", "its folder vllm/NEW.py differs only in case or Unicode form from"),
    ],
)
def test_a_twin_that_two_pull_requests_make(
    path: str, told: str, lane: Lane, capfd: Capture
) -> None:
    push(lane, {path: b"a = 1\n", GOOD: None}, number=2)
    error = refused(lane, capfd, "add", "2")
    assert re.search(rf"^  2: {re.escape(path)}, hunk \w{{10}}: twin: {told}", error, re.MULTILINE)
    assert error.count(": twin: ") == 1
    assert lane.run(*next_of(error)) == 0
    text = lane.series.read_text()
    head, one, two = text.split("[[entry]]")
    lane.series.write_text(f"{head}[[entry]]{two}\n[[entry]]{one}")
    assert "  1: vllm/" in refused(lane, capfd, "build")


def test_of_two_in_one_pull_request_one_is_told(lane: Lane, capfd: Capture) -> None:
    push(lane, {"vllm/Q.py": b"q = 1\n", "vllm/q.py": b"q = 1\n", GOOD: None}, number=2)
    error = refused(lane, capfd, "add", "2")
    assert "  2: vllm/q.py, hunk " in error
    assert error.count(": twin: ") == 1
    assert lane.run(*next_of(error)) == 0


def test_a_twin_of_an_overlays_file(lane: Lane, capfd: Capture) -> None:
    place = lane.root / "overlay/tree/vllm/Laid.py"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"laid = 1\n")
    lane.entry('overlay = "tree"')
    assert lane.run("build") == 0
    push(lane, {"vllm/laid.py": b"laid = 2\n", GOOD: None}, number=2)
    assert "in case or Unicode form from vllm/Laid.py\n" in refused(lane, capfd, "add", "2")


def test_a_twin_that_upstream_makes_later(lane: Lane, capfd: Capture) -> None:
    lane.move(lane.upstream_main(), {}, {"vllm/NEW.py": b"new = 1\n"})
    error = refused(lane, capfd, "build")
    assert "  1: vllm/new.py, hunk " in error
    assert lane.run("add", "1", "--allow", f"twin:{NEW}") == 0
    assert lane.run("undo") == 0
    assert lane.run(*next_of(error, "drop")) == 0
    assert NEW not in lane.read()


def test_two_renames_that_swap_cases_are_no_twins(lane: Lane) -> None:
    push(lane, {"vllm/x.py": None, "vllm/X.py": LINES, GOOD: None}, number=2)
    assert lane.run("add", "2") == 0
    assert lane.read().keys() >= {"vllm/X.py", NEW}


def test_one_that_waits_for_a_person_takes_part(lane: Lane, capfd: Capture) -> None:
    first = lane.upstream_main()
    lane.move(first, {}, {FILE: LINES.replace(b"line_3 = 0", b"line_3 = 9")})
    edit = {FILE: LINES.replace(b"line_3 = 0", b"line_3 = 3")}
    lane.pull({**edit, "vllm/a/b.py": None, "vllm/a/B.py": b"b = 1\n"}, first, number=2)
    assert lane.run("add", "2") == 3
    lane.pull({**edit, "vllm/New.py": b"new = 1\n"}, first, number=3)
    assert "  3: vllm/New.py, hunk " in refused(lane, capfd, "add", "3")


def test_a_link_and_a_file_below_it(lane: Lane, capfd: Capture) -> None:
    push(lane, {"vllm/l": link("a"), GOOD: None}, number=2)
    push(lane, {"vllm/l/evil.py": b"evil = 1\n", GOOD: None}, number=3)
    error = refused(lane, capfd, "add", "2", "3")
    assert "  2: vllm/l, hunk " in error
    assert ": link: a symlink to 'a'\n" in error
    assert lane.run(*next_of(error)) == 3
    assert "vllm/l is in the way there" in capfd.readouterr().err


@pytest.mark.parametrize("path", ["vllm/pyproject.toml", "vllm/.gitattributes", FILE, "vllm/X.py"])
def test_what_upstream_has_taken_in_is_its_own_affair(path: str, lane: Lane) -> None:
    text = LINES + "# \u202e\n".encode()
    first = lane.upstream_main()
    lane.move(first, {path: BASE.get(path, b"")}, {path: text})
    lane.pull({path: text, "vllm/other.py": b"a = 1\n"}, first, number=2)
    assert lane.run("add", "2") == 0
    assert set(lane.outcomes(1)) == {"landed", "clean"}
