"""Which of upstream's changes is a hunk that a reviewer edited, and which only looks like it."""

import pytest

from lanewright.queue.merge.landed import edited
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.patch.diff import Hunk
from lanewright.store.git import Repository, create
from lanewright.store.write import Content
from tests.queue.landed_cases import ABOVE, BELOW, BLANKS, EDITED, UNRELATED, Case
from tests.queue.random_pulls import read, stored


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return create(tmp_path_factory.mktemp("landed") / "objects.git")


def difference(repository: Repository, case: Case) -> str:
    """What is said of how upstream's lines differ; empty where they are no such change."""
    base, pull, upstream = (f"{ABOVE}{part}{BELOW}".encode() for part in case[1:])
    trees = [stored(repository, {"x.txt": Content("100644", text)}) for text in (base, pull)]
    (unit,) = read(repository, *trees).units
    assert unit.hunk
    return edited(unit.hunk, split_lines(base), split_lines(upstream))


@pytest.mark.parametrize("case", EDITED, ids=lambda case: case.name)
def test_what_reviewers_edit_is_known_again(repository: Repository, case: Case) -> None:
    told = difference(repository, case).splitlines()
    assert told[:2] == ["--- the hunk", "+++ upstream"]


@pytest.mark.parametrize("case", UNRELATED + BLANKS, ids=lambda case: case.name)
def test_what_only_looks_alike_is_not_taken_for_it(repository: Repository, case: Case) -> None:
    assert difference(repository, case) == ""


def test_a_hunk_that_upstream_took_in_beside_lines_of_its_own_is_told() -> None:
    base = [b"first = 0\n", b"\n", b"last = 0\n"]
    hunk = Hunk(
        number=1,
        old_start=0,
        old=tuple(base),
        new=(base[0], b"pool = 1\n", base[1], base[2]),
        removed=(),
        added=(b"pool = 1\n",),
        first_change=1,
        last_change=1,
    )
    many = [b"budget_%d = read_budget(%d)\n" % (number, number) for number in range(9)]
    beside = edited(hunk, base, [base[0], *many, b"pool = 1\n", base[1], base[2]])
    assert " pool = 1" in beside.splitlines()
    assert edited(hunk, base, [base[0], *many, b"pool = 2\n", base[1], base[2]]) == ""
