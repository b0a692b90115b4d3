"""The paper's fixture: what becomes of a step of 3 GB as its buffer shrinks."""

from functools import cache

import numpy as np
import pytest

from lanewright.residency.compared.first_tokens import buckets, places
from lanewright.residency.compared.forwards import forward_starts
from lanewright.residency.compared.outcome import Outcome
from lanewright.residency.infinity.serving import Served, serve
from lanewright.residency.infinity.settings import Settings, Variant
from lanewright.residency.trace_file.recorded import DECODE
from tests.residency import deepseek
from tests.residency.deepseek import GB, ROW


@cache
def served(gigabytes: int, link: int, variant: Variant = "paper") -> Served:
    return serve(
        deepseek.served(),
        rows=gigabytes * GB // ROW,
        row=ROW,
        rate=link * GB,
        step_seconds=0.05,
        settings=Settings(variant=variant),
    )


DECODED = deepseek.served().phase[forward_starts(deepseek.served().forward)] == DECODE


def test_the_buffers_hold_a_step_or_less() -> None:
    assert 3 * GB // ROW == 156 == deepseek.LAYERS * deepseek.PICKS
    assert [served(size, 24).prefetches for size in (3, 2, 1)] == [True, False, False]
    assert served(3, 24).prefetched.sum() > 0
    assert served(2, 24).prefetched.sum() == served(1, 24).prefetched.sum() == 0


@pytest.mark.parametrize("link", [24, 32])
def test_decoding_waits_the_longer_the_smaller_the_buffer(link: int) -> None:
    waits = [served(size, link).stall[DECODED].mean() for size in (4, 3, 2, 1)]
    assert waits == sorted(waits)
    # All of a step over the link: the most that it could be on demand.
    assert waits[3] <= 156 * ROW / (link * GB)
    below = served(1, link)
    assert below.stall == pytest.approx(below.demanded * (ROW / (link * GB)))


def test_a_faster_link_waits_less_and_prefetches_more() -> None:
    slow, fast, chips = (served(3, link) for link in (24, 32, 340))
    assert slow.stall.sum() > fast.stall.sum() > chips.stall.sum()
    assert slow.prefetched.sum() < chips.prefetched.sum()
    # On demand the link decides nothing but the time.
    assert (served(2, 24).demanded == served(2, 340).demanded).all()
    assert served(2, 24).stall.sum() / served(2, 32).stall.sum() == pytest.approx(32 / 24)


def test_the_first_token_of_a_request_has_no_trace() -> None:
    found, done = deepseek.served(), served(3, 24)
    starts = forward_starts(found.forward)
    first = np.flatnonzero(DECODED & ~np.append(False, DECODED[:-1]))
    assert len(first) == deepseek.REQUESTS
    assert done.prefetched[first].sum() == done.prefetched[~DECODED].sum() == 0
    outcome = Outcome("any", done.cold, done.demanded, done.prefetched, 0, {24.0: done.stall})
    decoded = found.phase == DECODE
    place = np.where(decoded, places(found.request) - deepseek.PROMPT, 10**6)
    by_place = [
        each.stall[24.0] for each in buckets(outcome, place, starts, 6) if each.behind <= 32
    ]
    assert by_place[0] == max(by_place)


def test_paper_and_code_differ_in_bytes() -> None:
    paper, code = served(1, 24), served(1, 24, "code")
    assert paper.demanded.sum() != code.demanded.sum()
    assert (paper.prefetched == code.prefetched).all()
