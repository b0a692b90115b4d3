"""What a forward reads, and where a token is in its request."""

import numpy as np

from lanewright.residency.compared.first_tokens import Bucket, buckets, places
from lanewright.residency.compared.forwards import by_forward, cold_rows, forward_starts
from lanewright.residency.compared.outcome import Outcome, waited
from lanewright.residency.compared.setting import ended, learned_tokens, selected
from lanewright.residency.fixed import fixed_cold
from tests.residency import requests, traffic

MIXED = requests.mixed()
STARTS = forward_starts(MIXED.forward)


def test_forwards_begin_where_their_number_changes() -> None:
    assert STARTS.tolist() == [0, 3, 6, 9, 10, 11]
    assert forward_starts(np.zeros(0, np.int64)).tolist() == []
    assert by_forward(np.arange(12), STARTS).tolist() == [3, 12, 21, 9, 10, 11]
    assert by_forward(np.zeros(0, np.int64), forward_starts(np.zeros(0, np.int64))).tolist() == []


def test_tokens_of_a_forward_read_a_row_once() -> None:
    ids = np.array([[[0, 1], [0, 1]], [[1, 2], [0, 1]], [[1, 2], [2, 3]]])
    hot = np.array([[True, False, False, False], [False, False, True, False]])
    assert cold_rows(ids, hot, np.array([0, 1, 2])).tolist() == [3, 4, 3]
    assert cold_rows(ids, hot, np.array([0])).tolist() == [5]
    assert cold_rows(ids, hot, np.array([0, 2])).tolist() == [4, 3]
    assert cold_rows(ids[:0], hot, np.zeros(0, np.int64)).tolist() == []


def test_a_forward_of_one_token_reads_its_cold_picks() -> None:
    ids = traffic.matched(200, 3, 16, 2)
    hot = np.arange(16) < np.array([[5], [0], [16]])
    assert (cold_rows(ids, hot, np.arange(200)) == fixed_cold(ids, hot).sum(axis=1)).all()


def test_what_forwards_wait_at_each_link() -> None:
    found = waited(np.array([0, 3]), 8 * 10**9, (24.0, 32.0))
    assert {link: each.tolist() for link, each in found.items()} == {24.0: [0, 1], 32.0: [0, 0.75]}


def test_places_count_the_tokens_of_each_request() -> None:
    assert places(MIXED.request).tolist() == [0, 1, 2, 3, 0, 1, 4, 5, 2, 6, 3, 4]
    assert places(np.zeros(0, np.int64)).tolist() == []


def test_buckets_double() -> None:
    cold = np.zeros((12, 3), np.int64)
    cold[0] = [2, 2, 2]  # place 0 of request 0, as much as there is
    cold[11] = [0, 1, 0]  # place 4 of request 1
    stall = {24.0: np.array([6.0, 0.0, 0.0, 0.0, 0.0, 2.0])}
    zeros = np.zeros(6, np.int64)
    found = Outcome("any", cold, zeros, zeros, 0, stall)
    assert [*buckets(found, places(MIXED.request), STARTS, 2)] == [
        Bucket(0, 1, 2, 6 / 12, {24.0: 3.0}),
        Bucket(1, 2, 2, 0.0, {24.0: 3.0}),
        Bucket(2, 4, 4, 0.0, {24.0: 1.5}),
        Bucket(4, 8, 4, 1 / 24, {24.0: 0.5}),
    ]


def test_a_trace_is_cut_between_forwards() -> None:
    shares = [0.0, 0.01, 0.25, 0.26, 0.5, 0.51, 0.75, 0.8, 0.99, 1.0]
    assert [learned_tokens(MIXED, each) for each in shares] == [0, 0, 3, 3, 6, 6, 9, 10, 12, 12]
    rest = selected(requests.weighted(MIXED), slice(6, None))
    assert rest.tokens == len(rest.forward) == 6
    assert (rest.ids == MIXED.ids[6:]).all()
    assert rest.weights is not None
    assert rest.weights.shape == rest.ids.shape


def test_requests_that_ended_in_front_are_known() -> None:
    assert ended(MIXED, 6).tokens == 0
    assert {*ended(MIXED, 10).request.tolist()} == {0}
    assert ended(MIXED, 10).position.tolist() == [0, 1, 2, 3, 4, 5, 5]
    assert ended(MIXED, 12).tokens == 12
