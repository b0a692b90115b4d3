"""The planner's arithmetic, against the figures of the lane that it was made for."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.layer_shape import LayerShape
from expert_bank.plan import Mode, Plan, cold_rows

GIB = 2**30
# 17.92 MiB a row, as 4-bit weights with a byte of scale for 32 of them make it.
ROW = {
    "w13_weight": 11_790_112,
    "w13_weight_scale": 736_882,
    "w2_weight": 5_895_056,
    "w2_weight_scale": 368_441,
}
KV = 2073  # 0.518 million tokens in a GiB
LAYER_BYTES = 384 * sum(ROW.values())
LAYER = LayerShape(384, 6, ROW, raw_bytes=LAYER_BYTES, repacked_bytes=LAYER_BYTES)
LANE = Plan(
    layers=(LAYER,) * 40,
    hot=(295,) * 40,
    mode="exclusive",
    page=65_536,
    other=20 * GIB,
    free_device=int(250.7 * GIB),
    free_host=494 * GIB,
    kv_per_token=KV,
)
SMALL = LayerShape(8, 2, {"w": 100}, raw_bytes=800, repacked_bytes=800)


def gib(size: int) -> float:
    return round(size / GIB, 2)


def test_the_lanes_banks() -> None:
    assert gib(LANE.hot_bank) == 206.5
    assert gib(LANE.all_resident) == 268.8
    assert (set(LANE.cold), gib(LANE.cold_bank)) == ({90}, 63.0)
    mirror = replace(LANE, mode="mirror")
    assert (set(mirror.cold), gib(mirror.cold_bank)) == ({384}, 268.8)


def test_the_lanes_peaks() -> None:
    assert gib(LANE.gathered) == 6.72
    assert gib(LANE.load_layer) == 13.44
    assert LANE.load_peak == LANE.hot_bank + LANE.load_layer
    assert gib(LANE.device_peak) == 206.5 + 13.44 + 20
    assert gib(LANE.host_peak) == 63.0 + 6.72


def test_the_lanes_tables_cost_no_kv_cache_to_speak_of() -> None:
    assert LANE.counts == 2 * 61_440  # 40 x 384 cells of 4 B are 61 kB, one for each bank
    assert LANE.tables == 4 * 61_440
    assert (LANE.tables + LANE.counts) // KV == 177


def test_three_rows_a_layer_are_a_million_tokens() -> None:
    fewer = replace(LANE, hot=(292,) * 40)
    freed = LANE.device - fewer.device
    assert freed == 120 * LAYER.row
    assert round(freed / GIB, 1) == 2.1
    assert fewer.kv_tokens_bought is not None
    assert LANE.kv_tokens_bought is not None
    tokens = fewer.kv_tokens_bought - LANE.kv_tokens_bought
    assert round(tokens / 1e6, 2) == 1.09
    assert round(tokens / (4.9 * GIB / KV), 2) == 0.43


def test_the_null_of_the_lanes_hit_rate() -> None:
    assert round(LANE.hot_share, 3) == 0.768
    assert round(1 - LANE.null_cold_share, 3) == 0.768


def test_the_null_weighs_layers_by_their_picks() -> None:
    plan = replace(LANE, layers=(SMALL, LayerShape(4, 4, {"w": 1}, 4, 4)), hot=(8, 1))
    assert plan.hot_share == 9 / 12
    assert plan.null_cold_share == (2 * 0 + 4 * 3 / 4) / 6


def test_all_hot_costs_what_the_tables_take() -> None:
    plan = replace(LANE, hot=(384,) * 40)
    assert (set(plan.cold), plan.cold_bank, plan.null_cold_share) == ({0}, 0, 0.0)
    assert plan.bought == -(plan.tables + plan.counts)
    assert plan.kv_tokens_bought == -178  # the token that is lost in part is lost


def test_tokens_are_whole_where_a_tokens_bytes_are_not() -> None:
    half = replace(LANE, kv_per_token=Fraction(KV, 2))
    assert half.kv_tokens_bought == LANE.bought * 2 // KV


def test_staging_is_paid_in_kv_cache() -> None:
    staged = replace(LANE, stage="2")
    assert staged.staging == 2 * 89 * LAYER.row
    assert staged.stage_tables == LANE.tables
    assert LANE.bought - staged.bought == staged.staging + staged.stage_tables
    # A layer whose experts are all hot has no second one.
    assert replace(staged, hot=(384,) * 10 + (295,) * 30).stage_tables == LANE.tables * 30 // 40
    assert replace(staged, hot=(292,) * 40).staging == 2 * 92 * LAYER.row
    off = replace(LANE, stage="1GiB")
    assert (off.staging, off.stage_tables) == (0, 0)


@pytest.mark.parametrize(
    ("hot", "mode", "cold"),
    [
        (0, "exclusive", 8),
        (1, "exclusive", 8),
        (5, "exclusive", 4),
        (7, "exclusive", 2),
        (8, "exclusive", 0),
        (0, "mirror", 8),
        (5, "mirror", 8),
        (8, "mirror", 0),
        (0, "file", 8),
        (5, "file", 8),
        (8, "file", 0),
    ],
)
def test_rows_on_the_host(hot: int, mode: Mode, cold: int) -> None:
    assert cold_rows(8, hot, mode) == cold


@given(st.integers(1, 500), st.data())
def test_every_expert_has_a_row_and_a_swap_has_room(experts: int, data: st.DataObject) -> None:
    hot = data.draw(st.integers(0, experts))
    rows = hot + cold_rows(experts, hot, "exclusive")
    assert rows == experts + (hot not in {0, experts})


@pytest.mark.parametrize(("page", "bank"), [(1, 600), (64, 640), (4096, 4096)])
def test_a_layers_cold_rows_are_whole_pages(page: int, bank: int) -> None:
    plan = replace(LANE, layers=(SMALL, SMALL), hot=(3, 8), page=page)
    assert plan.cold == (6, 0)
    assert plan.cold_bank == bank


def test_of_a_files_cold_rows_the_host_has_one_layers_at_a_time() -> None:
    scaled = LayerShape(8, 2, {"w": 100, "scale": 3}, raw_bytes=824, repacked_bytes=824)
    plan = replace(LANE, layers=(SMALL, scaled, SMALL), hot=(3, 5, 8), page=64, mode="file")
    assert plan.cold == (8, 8, 0)
    first, second = 832, 832 + 64
    assert plan.file == first + second
    assert plan.cold_bank == second
    assert plan.host_peak == second + 824
    assert plan.locked == 320 + (512 + 64) + 832
    others = (replace(plan, mode="mirror"), replace(plan, mode="exclusive"))
    assert {(each.file, each.locked) for each in others} == {(0, 0)}
    assert others[0].cold_bank > plan.cold_bank


def test_the_peak_is_the_largest_layers() -> None:
    large = LayerShape(8, 2, {"w": 50}, raw_bytes=1000, repacked_bytes=450)
    plan = replace(LANE, layers=(SMALL, large), hot=(1, 1))
    assert plan.load_layer == 1600
    assert plan.gathered == 1000


def test_the_largest_layers_wait_where_several_do() -> None:
    large = LayerShape(8, 2, {"w": 50}, raw_bytes=1000, repacked_bytes=450)
    plan = replace(LANE, layers=(SMALL, large, SMALL), hot=(1, 1, 1), waiting=2)
    assert plan.gathered == 1800
    assert plan.host_peak == plan.cold_bank + 1800
    assert plan.load_layer == 1600
    assert replace(plan, waiting=3).gathered == 2600


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"mode": "both"}, "no mode 'both': there are mirror, exclusive, file"),
        ({"hot": (1,)}, "1 numbers of hot rows for 40 layers"),
        ({"layers": (), "hot": ()}, "0 numbers of hot rows for 0 layers"),
        ({"hot": (295,) * 39 + (385,)}, "layer 39: 385 hot rows of 384 experts"),
        ({"hot": (-1,) + (295,) * 39}, "layer 0: -1 hot rows of 384 experts"),
        ({"page": 0}, "a size is below its least"),
        ({"kv_per_token": 0}, "a size is below its least"),
        ({"kv_per_token": Fraction(-1, 2)}, "a size is below its least"),
        ({"free_device": -1}, "a size is below its least"),
        ({"stage": "2", "mode": "file"}, "out of a file nothing is staged"),
        ({"free_file": -1}, "a size is below its least"),
        ({"waiting": 0}, "0 of 40 layers are gathered at once"),
        ({"waiting": 41}, "41 of 40 layers are gathered at once"),
    ],
)
def test_what_is_no_plan_is_a_mistake_of_the_caller(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(LANE, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"experts": 0},
        {"picks": 0},
        {"picks": 9},
        {"row_bytes": {}},
        {"row_bytes": {"w": 0}},
        {"row_bytes": {"w": 101}},
        {"raw_bytes": 0},
        {"repacked_bytes": 799},
    ],
)
def test_what_is_no_layer_is_a_mistake_of_the_caller(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not k of E experts|fewer bytes than its rows have"):
        replace(SMALL, **change)
