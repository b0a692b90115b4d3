"""A plan in words, and what is said of one that does not fit."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.fits import device_terms, host_terms, plan_lines, require_fits
from expert_bank.hot import hot_rows
from expert_bank.layer_shape import LayerShape
from expert_bank.plan import Mode, Plan
from expert_bank.refused import Refused
from expert_bank.remedy import fits, free_on_cpu
from expert_bank.sizes import told as size
from tests.expert_bank.test_plan import GIB, LANE, LAYER

MIB = 2**20


def refusal(plan: Plan, *, on_cpu: bool = False) -> tuple[list[str], str]:
    """The lines of a refusal, and its hint."""
    assert not fits(plan)
    with pytest.raises(Refused) as refused:
        require_fits(plan, on_cpu=on_cpu)
    *lines, hint = str(refused.value).splitlines()
    return lines, hint


def followed(plan: Plan, hint: str, *, on_cpu: bool = False) -> Plan:
    """The plan of who does what a hint says."""
    spec = re.search(r"fit:\d+MiB", hint)
    hot = plan.hot
    if spec:
        experts = [layer.experts for layer in plan.layers]
        hot = hot_rows(spec[0], experts=experts, row_bytes=[layer.row for layer in plan.layers])
        told = re.search(r"\((\d+) rows, (\d+) to (\d+) a layer\)", hint)
        assert told
        assert tuple(map(int, told.groups())) == (sum(hot), min(hot), max(hot))
    if "moe_cold_rows file" in hint:
        assert ("take moe_prefill_stage out" in hint) is bool(plan.stage)
        filed = replace(plan, hot=hot, mode="file", stage="")
        assert f"a folder on a disk with {size(filed.file)} left" in hint
        return replace(filed, free_device=free_on_cpu(filed), free_file=filed.file)
    mode = "exclusive" if "moe_cold_rows exclusive" in hint else plan.mode
    found = replace(plan, hot=hot, mode=mode)
    assert ("nothing is staged" in hint) is (plan.staging > 0 and not found.staging)
    return replace(found, free_device=free_on_cpu(found)) if on_cpu else found


def test_the_lanes_plan_in_words() -> None:
    require_fits(LANE, on_cpu=False)
    assert plan_lines(replace(LANE, stage="2")) == [
        "hot: 11800 of 15360 experts (76.8%) in 40 layers; 3600 cold rows, exclusive",
        "device: 243.06 GiB at most, 250.70 GiB free: 7.64 GiB to spare",
        "    206.50 GiB  hot bank",
        "     20.00 GiB  other weights",
        "     13.44 GiB  one layer raw and repacked, while loading",
        "      3.12 GiB  staging buffer",
        "    240.00 KiB  tables",
        "    240.00 KiB  tables of staged layers",
        "    120.00 KiB  counts",
        "host: 69.72 GiB at most, 494.00 GiB free: 424.28 GiB to spare",
        "     63.00 GiB  cold bank, exclusive",
        "      6.72 GiB  one layer raw, while loading",
        "experts while loading: at most 219.94 GiB of the device",
        "while serving: 229.62 GiB of the device; 21.08 GiB left for KV cache, activations and graphs",
        (
            "against all experts resident (268.80 GiB): 59.18 GiB bought, 30655487 tokens of KV cache"
            " at 2.02 KiB each"
        ),
        "uniform traffic: 23.2% of picks cold",
    ]


def test_a_packed_cache_buys_no_more_than_it_is_said_to() -> None:
    each = Fraction(8_590_464, 512)
    (line,) = (
        line
        for line in plan_lines(replace(LANE, kv_per_token=each, kv_packed=True))
        if "against" in line
    )
    assert line.endswith(
        f"bought, at most {LANE.bought * 512 // 8_590_464} tokens of KV cache at 16.38 KiB or more each"
    )


def test_without_a_cache_no_token_is_told_of() -> None:
    lines = plan_lines(replace(LANE, kv_per_token=None))
    assert lines[-2].endswith("62.30 GiB bought")
    assert not any("token" in line for line in lines)


def test_what_is_lost_is_called_so() -> None:
    lines = plan_lines(replace(LANE, hot=(384,) * 40))
    assert lines[-2].endswith("360.00 KiB lost, 178 tokens of KV cache at 2.02 KiB each")
    assert "38.10 GiB short for KV cache" in lines[-3]


def test_all_experts_resident_do_not_fit_the_lanes_device() -> None:
    plan = replace(LANE, hot=(384,) * 40)
    lines, hint = refusal(plan)
    assert lines == [
        "the two-bank does not fit",
        "device: 302.24 GiB at most, 250.70 GiB free: 51.54 GiB short",
        "    268.80 GiB  hot bank",
        "     20.00 GiB  other weights",
        "     13.44 GiB  one layer raw and repacked, while loading",
        "    240.00 KiB  tables",
        "    120.00 KiB  counts",
    ]
    assert hint.startswith("set moe_hot_experts fit:222459MiB (12414 rows, 310 to 311 a layer)")
    assert fits(followed(plan, hint))


def test_a_mirror_that_is_too_large_for_the_host_can_be_exclusive() -> None:
    plan = replace(LANE, mode="mirror", free_host=200 * GIB)
    lines, hint = refusal(plan)
    assert lines[1:] == [
        "host: 275.52 GiB at most, 200.00 GiB free: 75.52 GiB short",
        "    268.80 GiB  cold bank, mirror",
        "      6.72 GiB  one layer raw, while loading",
    ]
    assert hint == "set moe_cold_rows exclusive"
    assert fits(followed(plan, hint))


def test_layers_that_wait_for_the_rest_of_their_weights_take_host_memory() -> None:
    assert fits(replace(LANE, free_host=70 * GIB))
    lines, hint = refusal(replace(LANE, free_host=70 * GIB, waiting=3))
    assert lines[1:] == [
        "host: 83.16 GiB at most, 70.00 GiB free: 13.16 GiB short",
        "     63.00 GiB  cold bank, exclusive",
        "     20.16 GiB  3 layers raw, while loading",
    ]
    assert hint == "load from a checkpoint that has each layer's weights together"


FILE = replace(LANE, mode="file", free_file=300 * GIB)


def test_a_files_bytes_are_told_beside_the_locked_ones() -> None:
    lines = plan_lines(FILE)
    start = next(n for n, line in enumerate(lines) if line.startswith("host: "))
    assert lines[start : start + 6] == [
        "host: 13.44 GiB at most, 494.00 GiB free: 480.56 GiB to spare",
        "      6.72 GiB  one layer's cold rows, on their way into the file",
        "      6.72 GiB  one layer raw, while loading",
        "file: 268.80 GiB at most, 300.00 GiB free: 31.20 GiB to spare",
        "    268.80 GiB  cold rows, every expert's",
        "locked in memory: 206.50 GiB of hot rows",
    ]
    assert not any("locked" in line or "file:" in line for line in plan_lines(LANE))


def test_a_folder_without_room_is_refused_with_both_numbers() -> None:
    lines, hint = refusal(replace(FILE, free_file=200 * GIB))
    assert lines[1] == "file: 268.80 GiB at most, 200.00 GiB free: 68.80 GiB short"
    assert hint == "name a folder on a disk with 268.80 GiB left in EXPERT_BANK_FOLDER"


def test_cold_rows_of_a_file_stay_there_when_a_memory_is_too_small() -> None:
    lines, hint = refusal(replace(FILE, hot=(384,) * 40))
    assert lines[1].startswith("device: ")
    assert hint.startswith("set moe_hot_experts fit:")
    _, hint = refusal(replace(FILE, free_host=10 * GIB))
    assert hint == (
        "the host is 3.44 GiB short with as many rows hot as the device takes, and moe_cold_rows"
        " file: free as much of it"
    )


def test_fewer_hot_rows_make_more_cold_ones_to_stage() -> None:
    plan = replace(LANE, stage="2", free_device=220 * GIB)
    _, hint = refusal(plan)
    assert hint.startswith("set moe_hot_experts fit:")
    fewer = followed(plan, hint)
    assert fewer.staging > plan.staging
    assert fits(fewer)
    # Nor is it less than what fits.
    assert 0 <= fewer.free_device - fewer.device_peak < LAYER.row


def test_a_hint_says_that_the_buffer_holds_no_layer_any_more() -> None:
    plan = replace(LANE, stage="2GiB", free_device=210 * GIB)
    _, hint = refusal(plan)
    assert "a layer), with which nothing is staged: a layer has" in hint
    assert fits(followed(plan, hint))


def test_more_hot_rows_can_make_room_on_the_host() -> None:
    plan = replace(LANE, hot=(100,) * 40, free_host=100 * GIB)
    lines, hint = refusal(plan)
    assert lines[1].startswith("host: ")
    assert hint.startswith("set moe_hot_experts fit:")
    assert fits(followed(plan, hint))


def test_both_memories_are_told_where_both_are_too_small() -> None:
    lines, hint = refusal(replace(LANE, free_device=100 * GIB, free_host=50 * GIB))
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")] == [
        "the two-bank does not fit",
        "device",
        "host",
    ]
    assert hint == (
        "the host is 159.67 GiB short with as many rows hot as the device takes, and"
        " moe_cold_rows exclusive: free as much of it"
    )


@pytest.mark.parametrize(
    ("stage", "tail"),
    [("", "free as much of it"), ("2", "free as much of it, or take moe_prefill_stage out")],
)
def test_a_device_without_room_for_a_row_is_told(stage: str, tail: str) -> None:
    none = replace(LANE, stage=stage, hot=(0,) * 40)
    _, hint = refusal(replace(LANE, stage=stage, free_device=none.device_peak - GIB // 2))
    assert hint == f"the device is 512.00 MiB short without any hot row: {tail}"


def test_a_device_with_room_for_all_but_rows_can_have_none() -> None:
    plan = replace(LANE, free_device=LANE.device_peak - LANE.hot_bank)
    _, hint = refusal(plan)
    assert hint == "set moe_hot_experts fit:0MiB (0 rows, 0 to 0 a layer)"
    assert fits(followed(plan, hint))


def of_host(gib: int, hot: int, **more: Any) -> Plan:  # noqa: ANN401 - a plan's
    """The same model on a CPU with so much memory."""
    plan = replace(LANE, hot=(hot,) * 40, free_host=gib * GIB, free_device=0, **more)
    return replace(plan, free_device=free_on_cpu(plan))


@pytest.mark.parametrize(
    ("gib", "hot", "hint"),
    [
        (100, 64, "set moe_cold_rows file (a folder on a disk with 268.80 GiB left in EXPERT_BANK"),
        (
            100,
            295,
            "set moe_cold_rows file (a folder on a disk with 268.80 GiB left in EXPERT_BANK",
        ),
        (30, 64, "the device is "),
    ],
)
def test_on_a_cpu_without_room_cold_rows_can_be_in_a_file(gib: int, hot: int, hint: str) -> None:
    for mode in ("mirror", "exclusive"):
        plan = of_host(gib, hot, mode=mode)
        _, said = refusal(plan, on_cpu=True)
        assert said.startswith(hint)
        assert "file" not in refusal(plan)[1], "a device reads no file"
        if hint.startswith("set"):
            assert fits(followed(plan, said, on_cpu=True))
            assert (" and moe_hot_experts fit:" in said) == (hot == 295)


def test_on_a_cpu_what_is_nearer_to_what_was_asked_for_comes_first() -> None:
    plan = of_host(400, 295, mode="mirror")
    lines, hint = refusal(plan, on_cpu=True)
    assert lines[1].startswith("device: ")
    assert hint == refusal(plan)[1]
    assert hint.startswith("set moe_hot_experts fit:")


def test_layers_that_wait_leave_less_for_hot_rows_on_a_cpu() -> None:
    one, three = (of_host(320, 100, waiting=waiting) for waiting in (1, 3))
    assert one.free_device == one.free_host - one.cold_bank
    assert one.free_device - three.free_device == three.gathered - one.gathered > 0


sizes = st.integers(0, 60).map(lambda number: number * MIB)


def rows_of(mib: st.SearchStrategy[int]) -> st.SearchStrategy[LayerShape]:
    """Layers whose rows have so many MiB."""
    return st.builds(
        lambda experts, row, wider: LayerShape(
            experts, 1, {"w": row * MIB}, experts * row * MIB + wider, experts * row * MIB
        ),
        st.integers(1, 6),
        mib,
        sizes,
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    # Rows of several sizes are never staged.
    alike = st.lists(rows_of(st.just(draw(st.integers(1, 3)))), min_size=1, max_size=4)
    layers = tuple(draw(alike | st.lists(rows_of(st.integers(1, 3)), min_size=1, max_size=4)))
    mode = draw(st.sampled_from(get_args(Mode)))
    return Plan(
        layers=layers,
        hot=tuple(draw(st.integers(0, layer.experts)) for layer in layers),
        mode=mode,
        page=4096,
        other=draw(sizes),
        free_device=draw(sizes) * 3,
        free_host=draw(sizes) * 2,
        kv_per_token=1000,
        free_file=draw(sizes),
        stage="" if mode == "file" else draw(st.sampled_from(["", "1", "2", "3MiB", "9MiB"])),
    )


@given(plans())
def test_on_a_cpu_a_hint_that_is_followed_fits(plan: Plan) -> None:
    plan = replace(plan, free_device=free_on_cpu(plan))
    if not fits(plan) and (hint := refusal(plan, on_cpu=True)[1]).startswith("set "):
        assert fits(followed(plan, hint, on_cpu=True))


@given(plans(), st.integers(0, 72))
def test_on_a_device_that_is_a_little_short_a_hint_that_is_followed_fits(
    plan: Plan, more: int
) -> None:
    none = replace(plan, hot=(0,) * len(plan.layers))
    plan = replace(
        plan, free_device=none.device_peak + more * MIB, free_host=2**40, free_file=2**40
    )
    if not fits(plan):
        _, hint = refusal(plan)
        assert hint.startswith("set moe_hot_experts fit:")
        assert fits(followed(plan, hint))


@given(plans())
def test_terms_add_up_and_a_hint_that_is_followed_fits(plan: Plan) -> None:
    assert sum(device_terms(plan).values()) == plan.device_peak
    assert sum(host_terms(plan).values()) == plan.host_peak
    if fits(plan):
        require_fits(plan, on_cpu=False)
        return
    short = (
        plan.device_peak > plan.free_device,
        plan.host_peak > plan.free_host,
        plan.file > plan.free_file,
    )
    assert any(short)
    _, hint = refusal(plan)
    if plan.file > plan.free_file:
        assert hint.startswith("name a folder")
    elif hint.startswith("set "):
        assert fits(followed(plan, hint))
    elif hint.startswith("the device"):
        assert not fits(replace(plan, hot=(0,) * len(plan.layers)))
    else:
        assert hint.startswith("the host")
