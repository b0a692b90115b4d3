"""What lanes need of upstream's commits: kept whole, so that nothing else is asked for later."""

import shutil

import pytest

from lanewright.errors import LanewrightError
from lanewright.store.extract import pin_ref, pin_tree, pull_refs, pull_trees
from lanewright.store.objects import CommitId, commit_and_tree, files, lacking
from lanewright.store.remote import Remote
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow


def remote_of(carrying: Carrying) -> Remote:
    found = carrying.project.upstream.remote
    assert found
    return found


@pytest.fixture
def grown(carrying: Carrying) -> CommitId:
    """A commit with one file of its own in ``vllm/`` and one outside."""
    return grow(carrying, "main", carrying.main[-1], {"vllm/in.py": "i = 1\n", "out.md": "out\n"})


def blobs_of(carrying: Carrying, commit: str, *paths: str) -> list[str]:
    lines = git(carrying.upstream, "rev-parse", *(f"{commit}:{path}" for path in paths))
    return lines.decode().split()


def test_only_what_a_lane_can_have_of_a_commit_is_brought(
    carrying: Carrying, grown: CommitId
) -> None:
    tree = pin_tree(carrying.places, remote_of(carrying), grown)
    inside, outside = blobs_of(carrying, grown, "vllm/in.py", "out.md")
    assert files(carrying.repository, tree)["vllm/in.py"].blob == inside
    assert lacking(carrying.repository, [inside, outside]) == [outside]  # type: ignore[list-item]


def test_an_extract_is_asked_for_once(carrying: Carrying, grown: CommitId) -> None:
    tree = pin_tree(carrying.places, remote_of(carrying), grown)
    head = carrying.push(7, grown, {"vllm/in.py": b"i = 2\n", "b.md": b"", "c.md": b""})
    pulled = pull_trees(carrying.places, remote_of(carrying), grown, head)
    assert pulled.outside == 2
    shutil.rmtree(carrying.upstream)
    for remote in (remote_of(carrying), None):
        assert pin_tree(carrying.places, remote, grown) == tree
        assert pull_trees(carrying.places, remote, grown, head) == pulled


def test_a_pull_request_is_the_files_that_it_changes(carrying: Carrying, grown: CommitId) -> None:
    head = carrying.push(
        7, grown, {"vllm/in.py": b"i = 2\n", "vllm/new.py": b"", "vllm/__init__.py": None}
    )
    trees = pull_trees(carrying.places, remote_of(carrying), grown, head)
    assert carrying.read(trees.base).keys() == {"vllm/in.py", "vllm/__init__.py"}
    assert carrying.read(trees.head) == {"vllm/in.py": b"i = 2\n", "vllm/new.py": b""}
    kept = [commit_and_tree(carrying.repository, ref) for ref in pull_refs(grown, head)]
    assert [each[1] for each in kept if each] == [trees.base, trees.head]
    assert trees.outside == 0


def test_a_change_of_nothing_below_vllm_is_refused(carrying: Carrying, grown: CommitId) -> None:
    head = carrying.push(7, grown, {"out.md": b"other\n"})
    with pytest.raises(LanewrightError, match=r"touches nothing below vllm/ \(1 files elsewhere\)"):
        pull_trees(carrying.places, remote_of(carrying), grown, head)


@pytest.mark.parametrize("path", ["other/a.py", "vllm"])
def test_a_commit_without_a_folder_vllm_is_none_of_vllms(carrying: Carrying, path: str) -> None:
    commit = grow(carrying, "strange", "", {path: "a\n"})
    with pytest.raises(LanewrightError, match="has no vllm/"):
        pin_tree(carrying.places, remote_of(carrying), commit)
    assert commit_and_tree(carrying.repository, pin_ref(commit)) is None


def test_without_a_remote_a_commit_that_is_not_here_is_told(
    carrying: Carrying, grown: CommitId
) -> None:
    with pytest.raises(LanewrightError, match=f"lacks the pin {grown}, .* names no git remote"):
        pin_tree(carrying.places, None, grown)


def test_no_extract_is_made_with_holes(carrying: Carrying, grown: CommitId) -> None:
    pin_tree(carrying.places, remote_of(carrying), grown)
    later = grow(carrying, "main", grown, {"vllm/later.py": "l = 1\n"})
    last = carrying.push(7, later, {"vllm/last.py": b"l = 2\n"})
    # Its whole history is here, and of that only the trees.
    pull_trees(carrying.places, remote_of(carrying), later, last)
    with pytest.raises(LanewrightError, match=f"lacks 1 files of the pin {later}"):
        pin_tree(carrying.places, None, later)
    assert commit_and_tree(carrying.repository, pin_ref(later)) is None
    pin_tree(carrying.places, remote_of(carrying), later)
