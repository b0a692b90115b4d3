"""Changes that mean harm, or nothing: refused in the model, with the cause, before a file is touched.

For own patches `tests/queue/test_patchfile_refused.py` has unsafe paths and symlinks; of names
given to git, `tests/store/test_remote_closed.py` and `test_remote_ids.py` have more.
"""

from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.errors import LanewrightError
from lanewright.queue.merge.gates import GateError
from lanewright.queue.merge.links import check_link
from lanewright.queue.site import lay_site
from lanewright.store.objects import TreeId
from lanewright.store.write import Content, commit
from tests.queue.cases.lane import KINDS, Kind, Lane, carried

FILE = "vllm/x.py"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
EDITED = LINES.replace(b"line_3 = 0", b"line_3 = 1")

Capture = pytest.CaptureFixture[str]


def forced(lane: Lane, path: str) -> TreeId:
    """A tree with one file at a path that git itself would not take."""
    name, *above = path.split("/")[::-1]
    made = lane.upstream.run("hash-object", "-w", "--stdin", stdin=b"evil = 1\n").stdout
    entry = b"100644 " + name.encode() + b"\0" + bytes.fromhex(made.decode())
    for folder in [*above, ""]:
        flags = ("-w", "-t", "tree", "--literally", "--stdin")
        made = lane.upstream.run("hash-object", *flags, stdin=entry).stdout
        entry = b"40000 " + folder.encode() + b"\0" + bytes.fromhex(made.decode())
    return TreeId(made.decode().strip())


@pytest.mark.parametrize(
    "path",
    ["vllm/../../x", "vllm/.git/hooks/x", "vllm/.GIT/config", "vllm/x."],
)
def test_path_escape_of_a_pull_request(lane: Lane, capfd: Capture, path: str) -> None:
    base = lane.start({})
    head = commit(lane.upstream, forced(lane, path), "evil", [base])
    lane.upstream.run("update-ref", "refs/pull/1/head", head)
    before = lane.series.read_bytes()
    assert lane.run("add", "1") == 1
    assert f"the path {path!r} " in capfd.readouterr().err
    assert lane.series.read_bytes() == before


def test_path_escape_of_a_pin(lane: Lane, capfd: Capture) -> None:
    lane.pin(commit(lane.upstream, forced(lane, "vllm/../x"), "evil"))
    assert lane.run("build") == 1
    assert "the path 'vllm/../x' has the part '..'" in capfd.readouterr().err


def test_path_escape_is_caught_before_a_tree_is_laid_out(lane: Lane, tmp_path: Path) -> None:
    lane.start({})
    assert lane.run("build") == 0
    tree = forced(Lane(lane.root, lane.places, lane.repository), "vllm/../../evil")
    with pytest.raises(LanewrightError, match=r"the path 'vllm/\.\./\.\./evil'"):
        lay_site(lane.places, lane.lock.pin, tree)
    assert not list(tmp_path.rglob("evil"))


LEAVING = [b"/outside", b"../x", b"../../x", b"x/../../y", b"", b"a\nb", b"..", b"./../../x"]


@pytest.mark.parametrize("target", LEAVING)
def test_through_a_symlink_that_leaves(target: bytes) -> None:
    with pytest.raises(GateError, match="vllm/l: a symlink to "):
        check_link("vllm/l", target)


def test_through_a_symlink_that_stays_inside(lane: Lane) -> None:
    base = lane.start({"vllm/a/x.py": LINES})
    links = {
        "vllm/a/b/l.py": Content("120000", b"../x.py"),
        "vllm/l": Content("120000", b"a/b"),
        "vllm/a/up": Content("120000", b"../__init__.py"),
    }
    lane.pull(links, base)
    assert lane.run("add", "1", *(f"--allow=link:{path}" for path in links)) == 0
    assert {path: lane.modes()[path].mode for path in links} == dict.fromkeys(links, "120000")
    assert lane.read()["vllm/l"] == b"a/b"


def test_through_a_symlink_to_outside_is_refused_by_name(lane: Lane, capfd: Capture) -> None:
    base = lane.start({})
    lane.pull({"vllm/l": Content("120000", b"../../x")}, base)
    assert lane.run("add", "1") == 1
    assert ": link: a symlink to '../../x'" in capfd.readouterr().err


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_through_a_symlink_across_pull_requests(
    lane: Lane, capfd: Capture, order: tuple[int, int]
) -> None:
    base = lane.start({"vllm/a/x.py": LINES})
    lane.pull({"vllm/l": Content("120000", b"a")}, base, number=1)
    lane.pull({"vllm/l/evil.py": b"evil = 1\n"}, base, number=2)
    allow = {1: ["--allow", "link:vllm/l"], 2: []}
    assert [lane.run("add", str(number), *allow[number]) for number in order] == [0, 3]
    assert "is in the way there" in capfd.readouterr().err


def test_through_a_symlink_that_an_edit_of_a_regular_file_became(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: Content("120000", b"/etc/passwd")}, base)
    assert lane.run("add", "1") == 1


@pytest.mark.parametrize("branch", ["--upload-pack=touch ran", "-h"])
def test_option_injection_by_a_branch(lane: Lane, capfd: Capture, branch: str) -> None:
    lane.pull({FILE: LINES}, lane.start({}))
    with (lane.root / "upstream.toml").open("a") as file:
        file.write(f'branch = "{branch}"\n')
    assert lane.run("add", "1") == 1
    assert "is no name of a branch" in capfd.readouterr().err
    assert not list(lane.root.parent.rglob("ran"))


@pytest.mark.parametrize("url", ["ext::sh -c 'touch ran'", "--upload-pack=touch ran"])
def test_option_injection_by_a_url(lane: Lane, capfd: Capture, url: str) -> None:
    lane.start({})
    file = lane.root / "upstream.toml"
    file.write_text(file.read_text().replace(str(lane.upstream.path), url))
    assert lane.run("add", "1") == 1
    assert "upstream.toml: [git] url: the url" in capfd.readouterr().err
    assert not list(lane.root.parent.rglob("ran"))


@pytest.mark.parametrize("kind", KINDS)
def test_option_injection_by_a_path(lane: Lane, kind: Kind) -> None:
    names = ["vllm/-x.py", "vllm/--help", "vllm/:(top)x.py", "vllm/*.py"]
    before, after = dict.fromkeys(names, LINES), dict.fromkeys(names, EDITED)
    moved = dict.fromkeys(names, LINES + b"more = 0\n")
    assert carried(lane, kind, before, after, moved) == 0
    assert lane.read() == dict.fromkeys(names, EDITED + b"more = 0\n")


def test_option_injection_by_what_is_typed(lane: Lane) -> None:
    lane.pull({FILE: LINES}, lane.start({}))
    before = lane.series.read_bytes()
    for part in ("-x", "--upload-pack=touch ran", "1:-x", "0", "1e3", "\u0661"):
        assert lane.run("add", "--", part) == 1
    assert lane.series.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_done_where_a_selection_matches_nothing(
    lane: Lane, capfd: Capture, kind: Kind
) -> None:
    assert carried(lane, kind, {FILE: LINES}, {FILE: EDITED}, {FILE: LINES}) == 0
    text = lane.series.read_text()
    for wanted in ("vllm/none.py", "vllm", f"{FILE}:ffffffffff", "vllm/*.py"):
        lane.series.write_text(text)
        lane.select(wanted)
        assert lane.run("build") == 1
        assert f"selects {wanted!r}, which matches 0 hunks" in capfd.readouterr().err


def test_nothing_done_by_an_add_that_matches_nothing(lane: Lane, capfd: Capture) -> None:
    lane.pull({FILE: EDITED}, lane.start({FILE: LINES}))
    before = lane.series.read_bytes()
    assert lane.run("add", "1:vllm/none.py") == 1
    assert "matches 0 hunks of #1" in capfd.readouterr().err
    assert lane.series.read_bytes() == before


def test_nothing_done_outside_of_what_a_lane_has(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({"csrc/x.cu": b"x\n", "tests/x.py": b"x = 1\n"}, base)
    assert lane.run("add", "1") == 1
    assert "touches nothing below vllm/ (2 files elsewhere)" in capfd.readouterr().err
    lane.pull({"csrc/x.cu": b"x\n", FILE: EDITED}, base)
    assert lane.run("add", "1") == 0
    assert "1 file outside vllm/" in capfd.readouterr().err
    assert lane.lock.entries[0].pull
    assert lane.lock.entries[0].pull.outside == 1


def test_nothing_done_differently_from_a_subdirectory(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = lane.start({FILE: LINES})
    lane.pull({FILE: EDITED}, base)
    monkeypatch.chdir(lane.root / "patches/own")
    assert run(["add", f"1:{FILE}"]) == 0
    assert lane.read() == {FILE: EDITED}
    tree = lane.lock.tree
    (lane.root / "series/sample.lock").unlink()
    monkeypatch.chdir(lane.root / "series")
    assert run(["build"]) == 0
    assert lane.lock.tree == tree
