"""MoE-Infinity over traces of requests."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.eams.collection import Collection
from lanewright.residency.infinity.request import Running
from lanewright.residency.infinity.serving import Served, serve
from lanewright.residency.infinity.settings import Settings, Variant
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, Recorded
from tests.residency import requests, traffic

ROW = 100
RATE = 100.0  # a row a second


def served(found: Recorded, rows: int, *, step: float = 0.0, **settings: Any) -> Served:  # noqa: ANN401 - settings
    return serve(
        found, rows=rows, row=ROW, rate=RATE, step_seconds=step, settings=Settings(**settings)
    )


def alike(*each: tuple[int, ...], layers: int = 2, experts: int = 4) -> Recorded:
    """Requests of one token a forward; each token's one pick in every layer is what is said."""
    ids, request, position = [], [], []
    for number, tokens in enumerate(each):
        for place, expert in enumerate(tokens):
            ids.append([[expert]] * layers)
            request.append(number)
            position.append(place)
    return requests.recorded(
        np.array(ids), experts, request=np.array(request), position=np.array(position)
    )


def test_the_first_request_is_served_on_demand() -> None:
    found = served(alike((0, 1, 0, 2)), 8)
    assert found.demanded.tolist() == [2, 2, 0, 2]
    assert found.prefetched.tolist() == [0, 0, 0, 0]
    assert found.stall.tolist() == [2.0, 2.0, 0.0, 2.0]
    assert found.cold.tolist() == [[1, 1], [1, 1], [0, 0], [1, 1]]


def test_what_like_requests_picked_is_prefetched_from_the_second_forward_on() -> None:
    # Two rows: what a step takes, and no more.
    found = served(alike((0, 1, 1), (0, 1, 1)), 2, step=10.0)
    assert found.demanded.tolist() == [2, 2, 0, 2, 0, 0]
    # Expert 1 of the second layer is expected, and takes the row of 0; then both are there.
    assert found.prefetched.tolist() == [0, 0, 0, 0, 1, 0]


def test_prefill_and_decode_are_apart() -> None:
    first, second = alike((0, 1, 2, 3)), alike((0, 1, 2, 3), (0, 1, 2, 3))
    assert served(second, 2, step=10.0).prefetched.sum() > served(first, 2).prefetched.sum() == 0
    # The first request was prefill alone, the second is decoded: nothing is known of decode.
    phase = np.array([PREFILL] * 4 + [DECODE] * 4, np.uint8)
    assert served(replace(second, phase=phase), 2, step=10.0).prefetched.sum() == 0
    phase = np.full(8, PREFILL, np.uint8)
    assert served(replace(second, phase=phase), 2, step=10.0).prefetched.sum() > 0


def test_a_trace_begins_anew_with_each_request() -> None:
    # Were the second request's EAM that of the first, its first forward would have one.
    found = served(alike((0, 1), (2, 3), (2, 3)), 2, step=10.0)
    assert found.prefetched[[0, 1, 2, 4]].tolist() == [0, 0, 0, 0]


def test_a_buffer_below_one_step_fetches_on_demand_alone() -> None:
    ids = traffic.matched(60, 4, 16, 2)
    found = requests.recorded(ids, 16, request=np.arange(60) // 10, position=np.arange(60) % 10)
    below, step = served(found, 7, step=9.0), served(found, 8, step=9.0)
    assert (below.prefetches, step.prefetches) == (False, True)
    assert below.prefetched.sum() == 0 < step.prefetched.sum()
    assert below.wasted == 0
    # Nothing is on the link but what is waited for.
    assert below.stall.tolist() == below.demanded.tolist()
    assert served(found, 7, step=9.0, step_rows=7).prefetches


def test_a_wrong_prefetch_delays_the_demand_behind_it() -> None:
    # Both requests begin alike; then the second takes another way in the second layer.
    ids = np.array([[[0], [0]], [[1], [1]], [[1], [1]], [[0], [0]], [[1], [3]]])
    found = requests.recorded(
        ids, 4, request=np.array([0, 0, 0, 1, 1]), position=np.array([0, 1, 2, 0, 1])
    )
    # A step of two rows; a layer computes for half a second, half of what a row takes.
    guessed = served(found, 2, step=1.0, step_rows=2)
    demand = served(found, 2, step=1.0, step_rows=3)
    assert demand.stall.tolist() == [2.0, 2.0, 0.0, 2.0, 1.0]
    assert guessed.prefetched.tolist() == [0, 0, 0, 0, 1]
    assert guessed.demanded.tolist() == demand.demanded.tolist()
    # Its last layer waits for what is left of the row that was on the link, then for its own.
    assert guessed.stall.tolist() == [2.0, 2.0, 0.0, 2.0, 1.5]
    assert (guessed.wasted, demand.wasted) == (1, 0)


def test_a_right_prefetch_hides_what_the_layer_computes() -> None:
    found = alike((0, 1, 1), (0, 1))
    # In the last forward the first layer's expert is there. It computes half a second, in which
    # half of the second layer's row comes.
    assert served(found, 2, step=1.0).stall.tolist() == [2.0, 2.0, 0.0, 2.0, 0.5]
    assert served(found, 2, step=4.0).stall.tolist() == [2.0, 2.0, 0.0, 2.0, 0.0]
    for step in (1.0, 4.0):
        assert served(found, 2, step=step).demanded.tolist() == [2, 2, 0, 2, 0]
        assert served(found, 2, step=step).wasted == 0
    assert served(found, 2, step=4.0, step_rows=3).stall.tolist() == [2.0, 2.0, 0.0, 2.0, 1.0]


def test_what_is_there_and_as_urgent_gives_no_row_to_a_prefetch() -> None:
    # Experts 0 and 1 are as likely: whichever the second layer has may stay.
    assert served(alike((0, 1), (0, 1)), 2, step=4.0).prefetched.tolist() == [0, 0, 0, 0]


def test_one_prefetch_is_on_the_link_unless_more_may_be() -> None:
    ids = traffic.matched(80, 6, 16, 2)
    found = requests.recorded(ids, 16, request=np.arange(80) // 8, position=np.arange(80) % 8)
    one, many = served(found, 30, step=0.0), served(found, 30, step=0.0, ahead=8)
    assert one.prefetched.sum() < many.prefetched.sum()
    # Without any time to compute in, each is in a demand's way, or in time for nothing.
    assert one.stall.sum() < many.stall.sum()


def test_paper_and_code_differ_in_who_is_evicted() -> None:
    # Expert 0 is picked the most often, all in the last layers; the paper keeps the first ones.
    found = alike((0, 0, 0, 1, 0, 1), layers=2)
    paper, code = (served(found, 3, step_rows=9, variant=each) for each in ("paper", "code"))
    # Paper, nothing being known: 1 in the first layer evicts 0 of the last; and so on in turn.
    assert paper.cold.sum(axis=1).tolist() == [2, 0, 0, 2, 1, 1]
    # Code: 1 in the last layer evicts 1 of the first, and 0 stays.
    assert code.cold.sum(axis=1).tolist() == [2, 0, 0, 2, 0, 2]


def test_paper_and_code_differ_in_what_a_full_collection_forgets() -> None:
    one, other = (0, 1, 0, 1), (2, 3, 2, 3)
    found = alike(one, other, one, other, layers=3)
    last = {
        (variant, capacity): served(found, 3, step=9.0, capacity=capacity, variant=variant)
        .demanded[-3:]
        .tolist()
        for variant in ("paper", "code")
        for capacity in (2, 9)
    }
    # As the third request ends, the paper's has it in the place of the first, which is like it. The
    # code's has it in that of the second, which nothing was like, and the fourth is guessed wrong.
    assert last["paper", 2] == last["paper", 9] == last["code", 9] == [1, 1, 1]
    assert last["code", 2] == [3, 3, 3]


def test_requests_of_earlier_are_known_from_the_first_on() -> None:
    one, two = alike((0, 1, 1)), alike((0, 1, 1), (0, 1, 1))
    assert served(one, 2, step=10.0).prefetched.sum() == 0
    known = serve(one, rows=2, row=ROW, rate=RATE, step_seconds=10.0, past=one)
    # Expert 1 of the second layer is sent in the second forward, and hits.
    assert known.prefetched.tolist() == [0, 1, 0]
    assert known.demanded.tolist() == [2, 1, 0]
    assert served(two, 2, step=10.0).prefetched[:3].sum() == 0
    # Known of prefill is nothing known of decode.
    prompt = replace(one, phase=np.full(3, PREFILL, np.uint8))
    other = serve(one, rows=2, row=ROW, rate=RATE, step_seconds=10.0, past=prompt)
    assert other.prefetched.sum() == 0


def test_the_collections_have_the_last_requests_that_ended() -> None:
    running = Running(
        (Collection(2, 4, 2, "least accessed"), Collection(2, 4, 2, "least accessed"))
    )
    running.learn(alike((0, 0), (1, 1), (2, 2)))
    assert len(running.past[0]) == 0
    assert [eam[0].tolist() for eam in running.past[1].eams] == [[0, 0, 2, 0], [0, 2, 0, 0]]


def test_requests_of_one_forward_are_predicted_together() -> None:
    running = Running((Collection(2, 4, 2), Collection(2, 4, 2)))
    running.learn(alike((0, 0), (1, 1, 2, 2)))
    keys = [running.begin(request, DECODE) for request in (7, 8)]
    for key, expert in zip(keys, (0, 1), strict=True):
        running.see(key, 0, np.array([expert]))
    assert running.predicted(keys) is None
    running.went(keys[:1])
    alone = running.predicted(keys)
    running.went(keys[1:])
    both = running.predicted(keys)
    assert alone is not None
    assert both is not None
    assert alone.tolist() == [[1, 0, 0, 0]] * 2
    assert both.tolist() == [[0.5, 0.25, 0.25, 0]] * 2
    running.end(7)
    assert [*running.parts] == [keys[1]]


def test_a_buffer_may_be_filled_at_the_start() -> None:
    boot = np.array([[True, False, False, False], [True, False, False, False]])
    found = serve(alike((0, 0, 1)), rows=2, row=ROW, rate=RATE, step_seconds=0.0, boot=boot)
    assert found.demanded.tolist() == [0, 0, 2]
    found = serve(alike((0, 0, 1)), rows=1, row=ROW, rate=RATE, step_seconds=0.0, boot=boot)
    assert found.cold.tolist()[0] == [0, 1]


def test_a_wrong_prefetch_is_spared_for_its_own_layer_alone() -> None:
    # Expert 3 of the second layer is prefetched once and never picked; later prefetches take its row.
    ids = np.array([[[0], [3]], [[0], [3]], [[0], [3]], *[[[0], [1]], [[0], [2]]] * 4])
    request = np.array([0] * 3 + [1] * 8)
    found = requests.recorded(ids, 4, request=request, position=np.arange(11))
    ends = served(found, 2, step=4.0)
    assert ends.prefetched.sum() == ends.wasted == 7


@given(st.integers(0, 40), st.integers(0, 3), st.sampled_from(["paper", "code"]), st.data())
def test_rows_are_never_more_than_the_buffer_has(
    rows: int,
    step: int,
    variant: Variant,
    data: st.DataObject,
) -> None:
    seed = data.draw(st.integers(0, 9))
    ids = traffic.matched(40, 3, 8, 2, seed=seed)
    forward = np.cumsum(data.draw(st.lists(st.integers(0, 1), min_size=40, max_size=40)))
    found = requests.recorded(
        ids, 8, forward=forward, request=np.arange(40) // 7, position=np.arange(40) % 7
    )
    settings = {"variant": variant, "step_rows": 0, "capacity": 2}
    ends = served(found, rows, step=step, **settings)
    picked = np.unique(ids.reshape(40, -1, 2) + np.arange(3)[:, None] * 8).size
    moved = ends.demanded.sum() + ends.prefetched.sum()
    assert moved - ends.wasted >= picked
    assert 0 <= ends.wasted <= ends.prefetched.sum()
    assert (ends.stall >= 0).all()
    assert ((ends.cold >= 0) & (ends.cold <= 2)).all()
    if rows >= 24:
        assert moved == ends.wasted + picked
    if rows == 0:
        assert ends.prefetched.sum() == 0


@pytest.mark.parametrize(
    "change", [{"rows": -1}, {"row": 0}, {"rate": 0.0}, {"step_seconds": -1.0}]
)
def test_numbers_that_cannot_be(change: dict[str, Any]) -> None:
    told: dict[str, Any] = {"rows": 1, "row": 1, "rate": 1.0, "step_seconds": 0.0}
    with pytest.raises(ValueError, match="a step"):
        serve(alike((0,)), **(told | change))


@pytest.mark.parametrize(
    "change", [{"capacity": 0}, {"nearest": 0}, {"ahead": 0}], ids=["capacity", "nearest", "ahead"]
)
def test_settings_that_cannot_be(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="are above 0"):
        Settings(**change)
