"""From how many tokens on staging moves fewer bytes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.staging.threshold import NEVER, Cold, null_share

SHARES = st.floats(0.001, 1)


@given(st.integers(1, 64), st.integers(1, 4000), SHARES)
def test_it_is_where_the_bytes_cross(picks: int, rows: int, share: float) -> None:
    cold = Cold(picks, rows)
    least = cold.least(share)
    # In rows: in place one for each cold pick, staged each of them once.
    assert least * picks * share > rows * (1 - 1e-9)
    assert (least - 1) * picks * share <= rows * (1 + 1e-9)


def test_of_the_machine_it_is_for() -> None:
    # 40 layers of 384 experts, six a token, 295 hot: the seed's.
    cold = Cold.of([89] * 40, 6)
    assert null_share([89] * 40, 384) == pytest.approx(89 / 384)
    assert cold.least(89 / 384) == 65
    assert cold.least(0.205) == 73
    assert cold.least(0.027) == 550


@pytest.mark.parametrize("layers", [1, 3, 40, 58, 61, 94])
def test_alike_layers_have_one_threshold_however_many(layers: int) -> None:
    # At 64 tokens a cold row is read once to the last bit, which is not more than once.
    assert Cold.of([89] * layers, 6).least(null_share([89] * layers, 384)) == 65


def test_of_the_lane_that_boots_here() -> None:
    assert Cold.of([4] * 4, 4).least(null_share([4] * 4, 16)) == 5


def test_layers_without_cold_rows_do_not_count() -> None:
    assert Cold.of([4, 0, 4], 2) == Cold(4, 8)
    assert null_share([4, 0, 4], 16) == 0.25
    assert null_share([0], 16) == 0


def test_no_traffic_and_no_rows_never_pay() -> None:
    assert Cold(6, 89).least(0.0) == NEVER
    assert Cold(6, 0).least(0.5) == NEVER
    assert Cold(6, 0).reads(100, 0.5) == 0
    assert Cold(1, 2**40).least(0.5) == NEVER


@pytest.mark.parametrize("block", [2, 8, 64])
@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 40.0, 250.0, 260.0, 5000.0])
def test_a_block_of_tokens_reads_a_row_once(block: int, mean: float) -> None:
    found = Cold(1, 1, block).reads(1, mean)
    drawn = np.random.default_rng(20261202).poisson(mean, 400_000)
    assert found == pytest.approx(np.ceil(drawn / block).mean(), rel=0.02, abs=0.002)


@given(st.integers(2, 64), SHARES)
def test_with_blocks_it_takes_more_tokens(block: int, share: float) -> None:
    alone, together = Cold(6, 89).least(share), Cold(6, 89, block).least(share)
    assert together >= alone
    assert Cold(6, 89, block).reads(together, share) > 1
    assert Cold(6, 89, block).reads(together - 1, share) <= 1 + 1e-9


def test_reads_grow_with_tokens() -> None:
    cold = Cold(6, 89, 8)
    found = [cold.reads(tokens, 0.2) for tokens in (1, 10, 100, 1000, 10_000, 100_000)]
    assert found == sorted(found)
    assert math.isclose(found[-1], 100_000 * 6 * 0.2 / 89 / 8, rel_tol=0.01)
