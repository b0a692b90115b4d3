"""What two banks take of HBM and of Grace is what their arithmetic says, and no KV cache is lost."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from expert_bank.sizes import parse_size
from lanewright.serve.features import BANKS
from tests.gb300.conftest import TWO_BANK, Ran

pytestmark = pytest.mark.gpu
GIB = 2**30
WITHIN = 0.01
# Of the KV cache. What a warm-up's activations and graphs take is measured at each start, and is not
# the same twice.
NOISE = 0.05


@pytest.fixture
def found(ran: Callable[[str], Ran]) -> Ran:
    return ran(TWO_BANK)


@pytest.fixture
def lane(found: Ran) -> Mapping[str, Any]:
    memory: Mapping[str, Any] = found.engine("on")["memory"]
    return memory


@pytest.fixture
def pin(found: Ran) -> Mapping[str, Any]:
    memory: Mapping[str, Any] = found.engine("baseline")["memory"]
    return memory


def test_the_plan_is_the_series_arithmetic(found: Ran, lane: Mapping[str, Any]) -> None:
    experts = found.series.model.experts
    assert experts
    row, hot = parse_size(experts.row), int(str(found.series.engine[BANKS]))
    assert row
    plan = lane["plan"]
    every = experts.layers * experts.experts * row
    assert plan["all_resident"] == pytest.approx(every, rel=WITHIN)
    assert plan["hot_bank"] == pytest.approx(experts.layers * hot * row, rel=WITHIN)
    # A mirror of all of them.
    assert plan["cold_bank"] == pytest.approx(every, rel=WITHIN)


def test_device_bytes_fall_by_the_computed_amount(
    found: Ran, lane: Mapping[str, Any], pin: Mapping[str, Any]
) -> None:
    plan = lane["plan"]
    fell = plan["all_resident"] + plan["other"] - lane["weights"]
    assert fell == pytest.approx(plan["bought"], rel=WITHIN)
    # The pin was measured, too, without what it offloads: whole parameters, until it is as much.
    offloaded = plan["all_resident"] + plan["other"] - pin["weights"]
    experts, baseline = found.series.model.experts, found.series.equality.baseline
    assert experts
    assert baseline
    least = float(baseline["cpu_offload_gb"]) * GIB
    layer = plan["all_resident"] / experts.layers
    assert least * (1 - WITHIN) <= offloaded <= (least + layer) * (1 + WITHIN)


def test_the_host_bank_is_its_arithmetic_and_in_memory(lane: Mapping[str, Any]) -> None:
    planned, bank = lane["plan"]["cold_bank"], lane["host_bank"]
    assert bank["mapped"] == pytest.approx(planned, rel=WITHIN)
    assert bank["resident"] == pytest.approx(planned, rel=WITHIN)


def test_what_the_weights_leave_is_kv_cache(
    lane: Mapping[str, Any], pin: Mapping[str, Any]
) -> None:
    """Beside its hot rows and tables, which are weights, the lane takes nothing of the device."""
    lost = pin["weights"] + pin["kv_cache"] - lane["weights"] - lane["kv_cache"]
    assert lost <= NOISE * pin["kv_cache"]
    assert lane["kv_blocks"] > 0
