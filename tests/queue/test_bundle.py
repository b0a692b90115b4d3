"""Bundles: what is taken of them, and that a forged one is not believed."""

from pathlib import Path

import pytest

from lanewright.store.git import create
from lanewright.store.objects import EMPTY, TreeId, resolve
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, commit, set_refs, store_files
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]


def forged(folder: Path, ref: str, path: str) -> Path:
    """A bundle whose one ref names a commit that has one file."""
    maker = create(folder / "maker.git")
    files = store_files(maker, {path: Content("100644", b"EVIL = 1\n")})
    made = commit(maker, TreeId(edit_tree(maker, EMPTY, files)), "x\n")
    set_refs(maker, {ref: made})
    bundle = folder / "forged.bundle"
    maker.run("bundle", "create", "--quiet", str(bundle), ref)
    return bundle


def test_a_forged_extract_is_not_believed_where_the_commit_is_here(
    carrying: Carrying, tmp_path: Path, capfd: Capture
) -> None:
    bundle = forged(tmp_path, f"refs/pins/{carrying.main[-1]}", "vllm/evil.py")
    assert carrying.run("fetch", "--bundle", str(bundle)) == 0
    assert carrying.run("rebase", "--to", "main") == 5
    assert "is not what upstream's commits hold" in capfd.readouterr().err


def test_what_no_lane_may_hold_is_not_taken(carrying: Carrying, tmp_path: Path) -> None:
    assert carrying.run("build") == 0
    ref = f"refs/pins/{'1' * 40}"
    bundle = forged(tmp_path, ref, "sitecustomize.py")
    assert carrying.run("fetch", "--bundle", str(bundle)) == 1
    assert resolve(carrying.repository, ref) is None


@pytest.mark.parametrize("ref", ["refs/tags/v1", "refs/heads/main", "refs/pins/12"])
def test_a_ref_of_another_kind_is_not_taken(
    carrying: Carrying, tmp_path: Path, ref: str, capfd: Capture
) -> None:
    bundle = forged(tmp_path, ref, "vllm/a.py")
    assert carrying.run("fetch", "--bundle", str(bundle)) == 1
    assert "is no bundle of a lane: it has" in capfd.readouterr().err


def test_an_extract_without_its_count_is_told(
    carrying: Carrying, tmp_path: Path, capfd: Capture
) -> None:
    head = carrying.push(7, carrying.main[0], {"vllm/new.py": b"new = 1\n"})
    base = carrying.main[0]
    for side in ("base", "head"):
        folder = tmp_path / side
        folder.mkdir()
        bundle = forged(folder, f"refs/pulls/{base}/{head}/{side}", "vllm/new.py")
        assert carrying.run("fetch", "--bundle", str(bundle)) == 0
    assert carrying.run("add", "7") in {1, 5}
    assert "this is a bug" not in capfd.readouterr().err
