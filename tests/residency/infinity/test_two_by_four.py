"""MoE-Infinity's arithmetic on two layers of four experts, worked by hand."""

import numpy as np
import pytest

from expert_bank.eams.collection import Collection
from expert_bank.eams.prediction import normalised, predicted
from lanewright.residency.infinity.prediction import EPSILON, keep_score, prefetch_priority

# Four tokens, one pick in each layer.
A = np.array([[3, 1, 0, 0], [0, 2, 2, 0]])
B = np.array([[0, 0, 4, 0], [1, 0, 0, 3]])
C = np.array([[0, 4, 0, 0], [0, 0, 4, 0]])
# A request that has picked experts 0 and 1 of the first layer.
NOW = np.array([[1, 1, 0, 0], [0, 0, 0, 0]])


@pytest.fixture
def past() -> Collection:
    found = Collection(2, 4, 3)
    for eam in (A, B, C):
        found.add(eam)
    return found


def test_cosine_distance_of_flattened_matrices(past: Collection) -> None:
    # (3 + 1) / (sqrt(2) sqrt(9 + 1 + 4 + 4)) = 2/3, 0, and 4 / (sqrt(2) sqrt(32)) = 1/2.
    cosine = past.similar(NOW) / np.sqrt(2)
    assert cosine.tolist() == pytest.approx([2 / 3, 0, 1 / 2], abs=1e-6)
    assert past.nearest(NOW).tolist() == [0]
    assert past.nearest(NOW, 2).tolist() == [0, 2]
    assert past.nearest(NOW, 9).tolist() == [0, 2, 1]


def test_prediction_of_the_nearest(past: Collection) -> None:
    shares = predicted(past, NOW)
    assert shares is not None
    assert shares.tolist() == [[0.75, 0.25, 0, 0], [0, 0.5, 0.5, 0]]


def test_prediction_of_several_is_summed_and_each_row_normalised(past: Collection) -> None:
    shares = predicted(past, NOW, 2)
    # A and C: 3 1+4 0 0 and 0 2 2+4 0, of eight each.
    assert shares is not None
    assert shares.tolist() == [[3 / 8, 5 / 8, 0, 0], [0, 2 / 8, 6 / 8, 0]]


def test_nothing_is_predicted_of_nothing(past: Collection) -> None:
    assert predicted(Collection(2, 4, 3), NOW) is None
    assert predicted(past, np.zeros((2, 4), np.int64)) is None


def test_prefetch_priority() -> None:
    shares = normalised(A)
    # Behind layer 0 of two: times 1 - 1/2.
    assert prefetch_priority(shares, 0).tolist() == [[0, 0, 0, 0], [0, 0.25, 0.25, 0]]
    assert not prefetch_priority(shares, 1).any()
    deep = np.full((4, 1), 1.0)
    assert prefetch_priority(deep, 1).ravel().tolist() == [0, 0, 0.75, 0.5]


def test_worth_in_the_buffer() -> None:
    e = EPSILON
    worth = keep_score(normalised(A), 2, 4)
    wanted = [[0.75 + e, 0.25 + e, e, e], [e / 2, (0.5 + e) / 2, (0.5 + e) / 2, e / 2]]
    assert worth == pytest.approx(np.array(wanted), rel=1e-12)
    # The last layer goes first, of what is not expected.
    assert np.argsort(worth.ravel(), kind="stable")[:4].tolist() == [4, 7, 2, 3]


def test_worth_where_nothing_is_known_is_the_layer_alone() -> None:
    assert keep_score(None, 2, 4).tolist() == [[0.25] * 4, [0.125] * 4]
    half = keep_score(np.array([[0, 0, 0, 0], [1.0, 0, 0, 0]]), 2, 4)
    assert half[0].tolist() == [0.25] * 4
    assert half[1].tolist() == pytest.approx([0.5, 0, 0, 0], abs=1e-5)


D = np.array([[0, 3, 0, 0], [0, 0, 3, 1]])


def test_a_full_collection_replaces_the_nearest(past: Collection) -> None:
    past.add(D)
    assert [eam.tolist() for eam in past.eams] == [A.tolist(), B.tolist(), D.tolist()]
    assert len(past) == 3


def test_the_published_code_replaces_the_least_accessed() -> None:
    past = Collection(2, 4, 3, "least accessed")
    for eam in (A, B, C):
        past.add(eam)
    past.nearest(NOW)
    past.nearest(C)
    past.nearest(C)
    assert past.accessed.tolist() == [2, 1, 3]
    past.add(D)
    assert [eam.tolist() for eam in past.eams] == [A.tolist(), D.tolist(), C.tolist()]
    assert past.accessed.tolist() == [2, 1, 3]


def test_a_request_without_picks_is_not_kept(past: Collection) -> None:
    past.add(np.zeros((2, 4), np.int64))
    assert [eam.tolist() for eam in past.eams] == [A.tolist(), B.tolist(), C.tolist()]
    with pytest.raises(ValueError, match="a collection of 0 EAMs"):
        Collection(2, 4, 0)
