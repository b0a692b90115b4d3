"""What people are told of the buffer, and of the smallest step that it is for."""

from fractions import Fraction

import pytest

from expert_bank.staging.lines import stage_lines
from expert_bank.staging.room import stage_room
from expert_bank.staging.threshold import Cold

MIB = 2**20


def lines(spec: str, *, kv: Fraction | int | None = None, replayed: int = 0) -> list[str]:
    room = stage_room(spec, cold=[89] * 40, row_bytes=[18 * MIB] * 40)
    return [*stage_lines(room, Cold.of([89] * 40, 6), 89 / 384, kv, replayed=replayed)]


def test_size_and_price() -> None:
    assert lines("1", kv=Fraction(3, 2) * MIB)[0] == (
        "staging buffer: 89 rows, 1.56 GiB of the device, 1068 tokens of KV cache; all rows come a"
        " layer ahead from 3.13 GiB on"
    )
    assert lines("2")[0] == "staging buffer: 178 rows, 3.13 GiB of the device"


@pytest.mark.parametrize(("replayed", "least"), [(0, 65), (64, 65), (65, 66), (512, 513)])
def test_the_smallest_step_is_one_that_no_graph_is_replayed_for(replayed: int, least: int) -> None:
    _, line = lines("2", replayed=replayed)
    assert f"staged from {least} tokens on" in line
    # 6 picks of which 89 in 384 are cold, over 89 rows: one read each at 64.
    assert f"read {least / 64:.2f} times" in line
    pays = f"the bytes pay from 65 on, and up to {replayed} a graph is replayed"
    assert (pays in line) is (replayed >= 65)


def test_off_and_never() -> None:
    (line,) = lines("1GiB")
    assert line.startswith("moe_prefill_stage: nothing is staged: a layer has 89 cold rows")
    room = stage_room("2", cold=[4], row_bytes=[1])
    assert "no step is staged" in [*stage_lines(room, Cold.of([4], 2), 0.0, None)][1]
