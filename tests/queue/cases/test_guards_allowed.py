"""What a series lets in by name: written, kept, checked, and a part of what a lock is made of."""

from pathlib import Path

import pytest

from lanewright.project import Project
from lanewright.queue.culprit.parts import pieces_of, with_pieces
from lanewright.queue.inputs import OverlayInput
from lanewright.queue.lock import read_lock
from lanewright.queue.plan import plan
from tests.queue.cases.hostile import (
    BASE,
    FILE,
    GOOD,
    LINES,
    RLO,
    Capture,
    link,
    next_of,
    push,
    refused,
)
from tests.queue.cases.lane import Lane

LINK = {"vllm/l": link("a"), "vllm/l2": link("a")}
ODD = {FILE: LINES.replace(b"line_2 = 0", b"line_2 = 0  # " + RLO)}


@pytest.fixture
def lane(lane: Lane) -> Lane:
    """A lane that carries nothing yet."""
    lane.start(BASE)
    assert lane.run("build") == 0
    return lane


def test_an_own_patch_is_held_against_the_same_rules(lane: Lane, capfd: Capture) -> None:
    base, head = lane.upstream_main(), push(lane, ODD)
    lane.patch(base, head)
    lane.entry('patch = "own/hook.patch"  # ours')
    error = refused(lane, capfd, "build")
    assert f"  hook: {FILE}, hunk " in error
    assert ", line 3: bidi: it adds U+202E right-to-left override\n" in error
    text = lane.series.read_text()
    assert lane.run("add", "hook", "--allow", f"bidi:{FILE}") == 0
    assert lane.series.read_text() == f'{text}allow = ["bidi:{FILE}"]\n'
    assert lane.read()[FILE] == ODD[FILE]
    lane.series.write_text(text)
    assert lane.run(*next_of(error, "drop")) == 0
    assert lane.read() == {**BASE, GOOD: b"good = 1\n"}


def test_an_own_patch_of_what_packages(lane: Lane, capfd: Capture) -> None:
    base, head = lane.upstream_main(), push(lane, {"sitecustomize.py": b"a = 1\n"})
    lane.patch(base, head)
    lane.entry('patch = "own/hook.patch"')
    assert "  hook: sitecustomize.py, hunk " in refused(lane, capfd, "build")


def test_it_moves_the_lock_only_where_it_says_something(lane: Lane) -> None:
    push(lane, {})
    assert lane.run("add", "1") == 0
    before = plan(lane.project, "sample").digest
    with lane.series.open("a") as file:
        file.write("allow = []\n")
    assert plan(lane.project, "sample").digest == before
    lane.series.write_text(lane.series.read_text().replace("[]", f'["bidi:{GOOD}"]'))
    assert plan(lane.project, "sample").digest != before
    assert lane.run("build", "--check") == 4
    assert lane.run("build") == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bidi", "allows 'bidi', which is no RULE:PATH"),
        ("bidi:", "allows 'bidi:', which is no RULE:PATH"),
        ("all:vllm/l", "allows 'all:vllm/l', which is no RULE:PATH"),
        ("submodule:vllm/l", "a lane's tree can have no submodule"),
        ("link:vllm/none", "allows 'link:vllm/none', and the entry does not change that file"),
    ],
)
def test_what_allows_nothing_is_an_error(name: str, told: str, lane: Lane, capfd: Capture) -> None:
    push(lane, LINK)
    before = lane.series.read_bytes()
    capfd.readouterr()
    assert lane.run("add", "1", "--allow", name) == 1
    wanted = told if "none" not in name else "no entry that is named changes that file"
    assert wanted in capfd.readouterr().err
    assert lane.series.read_bytes() == before
    assert lane.run("add", f"1:{GOOD}") == 0
    with lane.series.open("a") as file:
        file.write(f'allow = ["{name}"]\n')
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    assert "series/sample.toml: entry 1" in error
    assert told in error


def test_an_overlay_has_no_rules(lane: Lane, capfd: Capture) -> None:
    place = lane.root / "overlay/tree/vllm/pyproject.toml"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"# " + RLO + b"\n")
    lane.entry('overlay = "tree"')
    assert lane.run("build") == 0
    assert lane.run("add", "tree", "--allow", "packaging:vllm/pyproject.toml") == 1
    with lane.series.open("a") as file:
        file.write('allow = ["packaging:vllm/pyproject.toml"]\n')
    capfd.readouterr()
    assert lane.run("build") == 1
    assert "entry 1: `allow` is for a patch or pull request" in capfd.readouterr().err


def test_it_stays_when_a_part_more_is_added_or_dropped(lane: Lane) -> None:
    push(lane, LINK)
    assert lane.run("add", "1:vllm/l", "--allow", "link:vllm/l") == 0
    assert lane.run("add", f"1:{GOOD}") == 0
    assert lane.run("add", "1:vllm/l2") == 1
    assert lane.run("add", "1:vllm/l2", "--allow", "link:vllm/l2") == 0
    assert lane.run("drop", "1:vllm/l") == 0
    assert 'allow = ["link:vllm/l", "link:vllm/l2"]' in lane.series.read_text()
    assert lane.read().keys() >= {GOOD, "vllm/l2"}


def test_a_drop_says_what_to_drop_with_it(lane: Lane, capfd: Capture) -> None:
    push(lane, LINK)
    assert lane.run("add", "1", "--allow=link:vllm/l", "--allow=link:vllm/l2") == 0
    text = lane.series.read_text()
    lane.series.write_text("\n".join(t for t in text.split("\n") if not t.startswith("allow")))
    error = refused(lane, capfd, "drop", f"1:{GOOD}")
    assert lane.run(*next_of(error, "drop")) == 0
    assert lane.lock.entries == []
    lane.series.write_text(text.replace(', "link:vllm/l2"', ""))
    error = refused(lane, capfd, "drop", "1:vllm/l")
    assert lane.run(*next_of(error, "drop")) == 0
    assert lane.read() == {**BASE, GOOD: b"good = 1\n"}


def test_an_update_keeps_it_and_says_so(lane: Lane, capfd: Capture) -> None:
    push(lane, LINK)
    allow = ["--allow", "link:vllm/l", "--allow", "link:vllm/l2"]
    assert lane.run("add", "1", *allow) == 0
    push(lane, {"vllm/l": link("x.py"), "vllm/more.py": b"more = 1\n"})
    capfd.readouterr()
    assert lane.run("add", "1", "--update") == 0
    said = capfd.readouterr().err
    assert "1: link:vllm/l stays allowed" in said
    assert "1: link:vllm/l2 is allowed no more: it does not change that file" in said
    assert 'allow = ["link:vllm/l"]' in lane.series.read_text()
    push(lane, {"vllm/l": link("x.py"), **ODD})
    error = refused(lane, capfd, "add", "1", "--update")
    assert next_of(error)[-1] == "--update"
    assert lane.run(*next_of(error)) == 0
    assert f'allow = ["link:vllm/l", "bidi:{FILE}"]' in lane.series.read_text()


def test_an_order_to_add_keeps_what_was_allowed_in_what_it_says_to_type(
    lane: Lane, capfd: Capture
) -> None:
    push(lane, {**LINK, "vllm/one.py": b"from vllm.two import two\n", "vllm/two.py": b"two = 2\n"})
    capfd.readouterr()
    assert lane.run("add", "1:vllm/one.py", "1:vllm/l", "--allow", "link:vllm/l") == 1
    assert lane.run(*next_of(capfd.readouterr().err)) == 0
    assert lane.read().keys() >= {"vllm/l", "vllm/one.py", "vllm/two.py"}


def test_parts_of_it_are_tried_with_what_is_allowed(lane: Lane) -> None:
    push(lane, LINK)
    assert lane.run("add", "1", "--allow=link:vllm/l", "--allow=link:vllm/l2") == 0
    planned = plan(lane.project, "sample")
    pieces = pieces_of(lane.project, lane.places, planned, lane.lock)
    (given,) = with_pieces(planned, pieces, pieces[1:]).inputs
    assert not isinstance(given, OverlayInput)
    assert given.choice.allow == ("link:vllm/l", "link:vllm/l2")


def test_the_lock_of_the_default_lane_does_not_move() -> None:
    project = Project.find(Path(__file__).parents[3])
    lock = read_lock(project.lock_file("cpu-tiny"))
    assert lock
    assert plan(project, "cpu-tiny").digest == lock.inputs
