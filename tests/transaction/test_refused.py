"""A transaction that is damaged or not of this project is refused as a whole."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.transaction.editing import recover
from lanewright.transaction.journal import SCHEMA, Change, Transaction, encode
from lanewright.transaction.replace import replace_together
from tests.conftest import World
from tests.transaction.half_done import leave_pending, replaced, snapshot

FOREIGN = [
    "../x", "/x", "d/../../x", "", ".", ".git/hooks/pre-commit", ".GIT/config", "d/.git/x",
    ".lanewright/lock", ".Lanewright/lock", "out/x", "hooks/x", "own/x", "loop/x", "link", "d",
    "a/x", "x\\y", "x\ny",
]  # fmt: skip


def lead_astray(root: Path) -> None:
    """Symlinks that lead out of a project, or to where no file of ours is."""
    for folder in (".git/hooks", "d"):
        (root / folder).mkdir(parents=True)
    (root / "out").symlink_to(root.parent)
    (root / "hooks").symlink_to(".git/hooks")
    (root / "own").symlink_to(".lanewright")
    (root / "loop").symlink_to("loop")
    (root / "link").symlink_to("a")


@pytest.mark.parametrize("path", FOREIGN)
def test_a_change_of_what_is_not_ours_is_refused(project: Project, path: str) -> None:
    lead_astray(project.root)
    before = snapshot(project.root)
    with pytest.raises(LanewrightError):
        replace_together(project, {Path("ok"): b"x", Path(path): b"x"}, what="a change")
    assert snapshot(project.root) == before


@pytest.mark.parametrize("path", [*FOREIGN, "a/", "d//x", "./x"])
def test_a_transaction_of_what_is_not_ours_is_refused_and_nothing_touched(
    tmp_path: Path, world: World, path: str
) -> None:
    (world.root / "a").write_bytes(b"a")
    lead_astray(world.root)
    file = leave_pending(world.project, Change("ok", None, b"", 0o644), Change(path, None, b"", 0))
    before, around = snapshot(world.root), sorted(tmp_path.iterdir())
    with pytest.raises(LanewrightError, match=r"pending\.json: the path") as error:
        recover(world.project)
    assert f"rm {file}" in str(error.value.hint)
    assert world.run("list") == 1
    assert (snapshot(world.root), sorted(tmp_path.iterdir())) == (before, around)


@pytest.mark.parametrize("paths", [("new", "new/x"), ("real/x", "alias/x"), ("new/x", "new")])
def test_paths_that_exclude_each_other_are_refused(project: Project, paths: list[str]) -> None:
    (project.root / "real").mkdir()
    (project.root / "alias").symlink_to("real")
    with pytest.raises(LanewrightError, match="two of its paths are one file, or one is in"):
        replaced(project, dict.fromkeys(paths, b"x"))
    leave_pending(project, *(Change(path, None, b"x", 0o644) for path in paths))
    with pytest.raises(LanewrightError, match="two of its paths are one file, or one is in"):
        recover(project)


def damaged(change: Callable[[dict[str, object]], object]) -> bytes:
    content = encode(Transaction(SCHEMA, "a change", (Change("a", b"a", b"A", 0o644),)))
    data = json.loads(content)
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[" * 5000,
        damaged(lambda data: data.update(schema=2)),
        damaged(lambda data: data.update(what="two\nlines")),
        damaged(lambda data: data.update(changes=[])),
        damaged(lambda data: data.pop("changes")),
        damaged(lambda data: data["changes"][0].update(new="no base64")),  # type: ignore[index]
        damaged(lambda data: data["changes"][0].update(mode=0o4755)),  # type: ignore[index]
    ],
)
def test_a_damaged_transaction_is_told_and_nothing_touched(
    project: Project, content: bytes
) -> None:
    file = leave_pending(project)
    file.write_bytes(content)
    with pytest.raises(LanewrightError, match=r"pending\.json is damaged") as error:
        recover(project)
    assert f"rm {file}" in str(error.value.hint)
    assert (project.root / "a").read_bytes() == b"a"
    assert file.read_bytes() == content
