"""The read probe: what it reads, what it makes of the clock, and a real read."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.pages import HostPages
from expert_bank.probe import GRACE_FLOOR, Speed, host_reader, probe, require_speed, slices
from expert_bank.refused import Refused

GIB = 2**30


def clock_of(passes: Iterable[float]) -> Callable[[], float]:
    """A clock by which the passes take these seconds."""
    times = [0.0]
    for seconds in passes:
        times += [times[-1] + seconds, times[-1] + seconds]
    return iter(times).__next__


@given(st.integers(1, 10**6), st.integers(1, 2 * 10**6), st.integers(1, 40))
def test_a_sample_is_spread_without_overlap(length: int, sample: int, count: int) -> None:
    found = list(slices(5000, length, sample=sample, count=count))
    ends = [at + each for at, each in found]
    assert found[0][0] == 5000
    assert ends[-1] <= 5000 + length
    assert all(end <= at for end, (at, _) in zip(ends, found[1:], strict=False))
    assert 1 <= sum(each for _, each in found) <= max(sample, min(count, length))
    if len(found) > 1:
        assert ends[-1] == 5000 + length


def test_the_best_pass_counts() -> None:
    found = probe(
        0,
        100 * GIB,
        lambda _at, _length: None,
        sample=10**9 // 16 * 16,
        repeats=4,
        clock=clock_of([0.010, 0.004, 0.003, 0.009]),
    )
    assert found.read == 10**9
    assert found.best == pytest.approx(1 / 0.003)
    assert str(found).startswith(
        "333.3 GB/s, the best of 100.0, 250.0, 333.3, 111.1, 953.67 MiB each"
    )


def test_every_pass_reads_the_whole_sample() -> None:
    read: list[tuple[int, int]] = []
    found = probe(
        4096, 10**6, lambda at, length: read.append((at, length)), sample=10**5, count=10, repeats=3
    )
    assert read == list(slices(4096, 10**6, sample=10**5, count=10)) * 3
    assert (found.read, len(found.seconds)) == (10**5, 3)


def test_a_clock_that_stands_still_is_no_fault() -> None:
    assert probe(0, 100, lambda _at, _length: None, clock=lambda: 1.0).best > 0


def test_graces_other_node_is_refused() -> None:
    right, wrong = Speed(338 * 10**9, (1.0,)), Speed(221 * 10**9, (1.0, 1.1))
    require_speed(right, GRACE_FLOOR, node=0)
    with pytest.raises(Refused) as refused:
        require_speed(wrong, GRACE_FLOOR, node=1)
    text = str(refused.value)
    assert "on node 1 is read at 221.0 GB/s, the best of 221.0, 200.9" in text
    assert "below the floor of 280.0 GB/s" in text


def test_without_a_floor_it_is_only_told() -> None:
    require_speed(Speed(1, (1.0,)), None, node=None)


def test_the_floor_itself_passes() -> None:
    require_speed(Speed(5 * 10**9, (1.0,)), 5.0, node=None)
    with pytest.raises(Refused, match="on a machine without nodes"):
        require_speed(Speed(5 * 10**9, (1.0,)), 5.001, node=None)


def test_a_real_bank_is_read() -> None:
    pages = HostPages(64 * 2**20)
    view = pages.view()
    view[:] = b"\x5a" * len(view)
    found = probe(pages.address, pages.asked, host_reader(2 * 2**20), sample=32 * 2**20)
    assert found.read == 32 * 2**20
    assert 0.05 < found.best < 2000


def test_a_slice_too_large_for_the_reader_is_caught() -> None:
    with pytest.raises(ValueError, match="9 bytes do not fit into 8"):
        host_reader(8)(0, 9)
