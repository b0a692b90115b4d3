"""A second version of a pull request, put in place of its first."""

from pathlib import Path

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, resolve
from tests.upstream.stand_in.history import NEW_TAG
from tests.upstream.stand_in.pulls import CONTRIBUTOR, edits
from tests.upstream.stand_in.shape import merge_base
from tests.upstream.stand_in.specs import PULLS
from tests.upstream.stand_in.stream import HOUR, START, NewCommit, write_commits

A_DAY_LATER = START + 24 * HOUR


def force_push(repository: Path, number: int) -> CommitId:
    """Replace a pull request's head by its second version, which is no descendant of the first.

    Of #96177's hunks, one moves down since lines came above it, one is reworded, one is gone, one
    is new, and the others are as they were.

    Returns:
        The new head.
    """
    (spec,) = [each for each in PULLS if each.number == number]
    upstream = Repository(repository)
    base = merge_base(upstream, spec.ref)
    pin = resolve(upstream, f"{NEW_TAG}^{{commit}}")
    assert pin is not None, f"{repository} has no {NEW_TAG}"
    first, second = (
        edits(upstream, base, CommitId(pin), spec, version=version).last for version in (1, 2)
    )
    assert first != second, f"#{number} has no second version"
    new = NewCommit(spec.ref, CONTRIBUTOR, A_DAY_LATER, spec.title, (base,), second)
    return write_commits(upstream, [new])[-1]
