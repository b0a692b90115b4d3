"""What must hold for every pull request and every choice of its hunks."""

import pytest
from hypothesis import HealthCheck, given, settings

from lanewright.store.git import Repository, create
from lanewright.store.objects import files
from tests.queue.random_pulls import Tree, carried, pulls, read, stored

quick = settings(
    max_examples=30,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A store that all examples share; objects by id cannot disturb each other."""
    return create(tmp_path_factory.mktemp("random") / "objects.git")


@quick
@given(pull=pulls())
def test_all_hunks_selected_is_the_pull_requests_tree(
    repository: Repository, pull: tuple[Tree, Tree]
) -> None:
    base, head = (stored(repository, side) for side in pull)
    units = read(repository, base, head).units
    assert carried(repository, base, head, base, units) in (files(repository, head), None)
