"""Traffic that policies are tried on is what it says."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.residency import traffic
from tests.residency.traffic import Trace

SHAPE = (2, 64, 4)
TRACES = {
    "matched": traffic.matched(1024, *SHAPE),
    "uniform": traffic.uniform(1024, *SHAPE),
    "switch": traffic.switch(1024, *SHAPE, at=300),
    "reverse": traffic.reverse(1024, *SHAPE, at=300),
    "domain_flip": traffic.domain_flip(1024, *SHAPE, period=128),
    "burst": traffic.burst(1024, *SHAPE, at=300),
    "wide burst": traffic.burst(1024, 2, 64, 6, at=300),
    "tie": traffic.tie(1024, *SHAPE),
    "thrash": traffic.thrash(1024, *SHAPE, hot=49),
}


def counted(ids: Trace, layer: int = 0) -> NDArray[np.int64]:
    return np.bincount(ids[:, layer].ravel(), minlength=64)


@pytest.mark.parametrize("ids", TRACES.values(), ids=TRACES)
def test_a_tokens_picks_are_different_experts(ids: Trace) -> None:
    assert ids.shape[:2] == (1024, 2)
    assert (ids.min() >= 0, ids.max() < 64) == (True, True)
    assert (np.diff(np.sort(ids, axis=2), axis=2) > 0).all()


def test_a_seed_gives_one_trace() -> None:
    again = traffic.matched(1024, *SHAPE)
    assert (again == TRACES["matched"]).all()
    assert (traffic.matched(1024, *SHAPE, seed=1) != again).any()


def test_each_layer_has_its_own_favourites() -> None:
    first, second = (counted(TRACES["matched"], layer).argmax() for layer in range(2))
    assert first != second


def test_the_reverse_has_the_coldest_as_the_hottest() -> None:
    forward, back = traffic.zipf(3, 64, 5), traffic.reversed_zipf(3, 64, 5)
    assert (np.argsort(-back, axis=1) == np.argsort(forward, axis=1)).all()
    assert (np.sort(back, axis=1) == np.sort(forward, axis=1)).all()


def test_the_burst_hammers_experts_that_were_cold() -> None:
    quiet, ids = TRACES["matched"], TRACES["burst"]
    loud = counted(ids[300:500])
    (hammered,) = np.nonzero(loud)
    assert loud[hammered].tolist() == [200] * 4
    assert set(hammered) <= set(np.argsort(counted(quiet), kind="stable")[:30])
    assert (np.delete(ids, slice(300, 500), 0) == np.delete(quiet, slice(300, 500), 0)).all()


def test_a_tie_is_one_in_every_turn() -> None:
    ids = TRACES["tie"]
    for start in range(0, 1024, 16):
        assert (counted(ids[start : start + 16]) == 1).all()


def test_two_experts_pass_the_threshold_in_turn() -> None:
    windows = [counted(TRACES["thrash"][at : at + 256]) for at in range(0, 1024, 256)]
    assert [window[48:50].tolist() for window in windows] == [[16, 5], [5, 16]] * 2
    assert min(window[:48].min() for window in windows) >= 16
    assert not any(window[50:].any() for window in windows)
    with pytest.raises(ValueError, match="do not pass the threshold of 1"):
        traffic.thrash(1024, *SHAPE, hot=49, window=32)
