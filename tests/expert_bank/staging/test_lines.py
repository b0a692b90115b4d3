"""What people are told of the buffer, and of the smallest step that it is for."""

import re
from fractions import Fraction

import pytest

from expert_bank.staging.lines import stage_lines
from expert_bank.staging.room import stage_room
from expert_bank.staging.threshold import Cold

MIB = 2**20


def lines(
    spec: str,
    *,
    kv: Fraction | int | None = None,
    replayed: int = 0,
    most: int | None = None,
    block: int = 1,
) -> list[str]:
    room = stage_room(spec, cold=[89] * 40, row_bytes=[18 * MIB] * 40)
    cold = Cold.of([89] * 40, 6, block)
    return [*stage_lines(room, cold, 89 / 384, kv, replayed=replayed, most=most)]


def test_size_and_price() -> None:
    assert lines("1", kv=Fraction(3, 2) * MIB)[0] == (
        "staging buffer: 89 rows, 1.56 GiB of the device, 1068 tokens of KV cache; two layers'"
        " rows would take 3.13 GiB, so some wait until others are read"
    )
    assert lines("2")[0] == "staging buffer: 178 rows, 3.13 GiB of the device"


@pytest.mark.parametrize(("replayed", "least"), [(0, 65), (64, 65), (65, 66), (512, 513)])
def test_the_smallest_step_is_one_that_no_graph_is_replayed_for(replayed: int, least: int) -> None:
    _, line = lines("2", replayed=replayed)
    assert f"staged from {least} tokens on" in line
    # 6 picks of which 89 in 384 are cold, over 89 rows: one read each at 64.
    assert f" {least / 64:.2f} times in the mean, staged, each is copied once" in line
    pays = f"by bytes from 65 on, but up to {replayed} a graph is replayed"
    assert (pays in line) is (replayed >= 65)


@pytest.mark.parametrize(
    ("replayed", "most", "first"), [(0, 64, 65), (512, 512, 513), (512, 100, 513)]
)
def test_a_step_that_no_engine_has_is_told_as_none(replayed: int, most: int, first: int) -> None:
    _, line = lines("2", replayed=replayed, most=most)
    assert line.startswith("no step is staged: at 23.2% of picks cold (uniform traffic) it takes")
    assert f" takes {first} tokens" in line
    grow = "above what graphs are captured for, and to 65 or more"
    enough = grow if replayed == most else f"to {first} or more"
    assert line.endswith(
        f"; a step has at most {most}; raise max_num_batched_tokens {enough}, or take"
        " moe_prefill_stage out"
    )
    assert ("a graph is replayed" in line) is (replayed > 0)
    _, line = lines("2", replayed=replayed, most=first)
    assert line.startswith(f"a step that computes a prompt is staged from {first} tokens on")


def test_a_row_that_is_read_more_than_once_is_told_so() -> None:
    (_, line), reads = lines("2", block=8), Cold.of([89] * 40, 6, 8).reads(252, 89 / 384)
    assert f"{reads:.2f}" == "1.00"
    found = re.search(r"reads each of 3560 cold rows ([0-9.]+) times in the mean", line)
    assert found
    assert 1 < float(found[1]) == pytest.approx(reads, rel=0.01)
    assert "(once for 8 of the tokens that picked it)" in line


def test_off_and_never() -> None:
    (line,) = lines("1GiB")
    assert line.startswith("moe_prefill_stage: nothing is staged: a layer has 89 cold rows")
    room = stage_room("2", cold=[4], row_bytes=[1])
    assert "no step is staged" in [*stage_lines(room, Cold.of([4], 2), 0.0, None)][1]
