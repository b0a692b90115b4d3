"""A server with two banks boots only if its ``/metrics`` tells what its workers counted."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.child import BootError
from lanewright.serve.server import ServerBoot, boot_server
from tests.serve.stand_in import lay_stand_in

BANKS: Mapping[str, object] = {"moe_hot_experts": "5"}
LAYER = "model.layers.0.mlp.experts"


def boot(folder: Path, engine: Mapping[str, object] = BANKS, **lies: Any) -> ServerBoot:  # noqa: ANN401 - JSON
    env = lay_stand_in(folder, lies=lies)
    return boot_server(env, folder / "model", engine, folder, device="cpu")


def test_they_are_proven_with_the_two_banks(tmp_path: Path) -> None:
    (proof,) = boot(tmp_path).proofs
    picks = proof.facts["picks"]
    assert proof.text.endswith(f"; {picks} picks of 3 layers on /metrics, as counted")
    assert proof.facts["metrics_picks"] == picks > 0


def test_a_server_without_two_banks_need_not_have_any(tmp_path: Path) -> None:
    (proof,) = boot(tmp_path, {"moe_usage_counter": True}, unscraped=True).proofs
    assert "metrics" not in proof.text


@pytest.mark.parametrize(
    ("lies", "told"),
    [
        ({"lacks": "expert_bank_trusted"}, "lacks expert_bank_trusted$"),
        ({"lacks": "expert_bank_picks_total"}, "lacks expert_bank_picks_total$"),
        ({"more_shown": 1}, rf"has (\d+) picks of {LAYER}, and (\d+) were counted$"),
        ({"late_forwards": 1}, r"has expert_bank_forwards_total \d+\.0, and the worker tells \d+$"),
    ],
)
def test_what_is_missing_or_another_number_fails_the_boot(
    tmp_path: Path, lies: dict[str, Any], told: str
) -> None:
    with pytest.raises(MismatchError) as caught:
        boot(tmp_path, **lies)
    message = str(caught.value)
    assert message.startswith("server boot: moe_hot_experts: /metrics ")
    assert re.search(told, message.partition("\n")[0]), message


def test_one_that_answers_with_an_error_is_told(tmp_path: Path) -> None:
    with pytest.raises(BootError, match="failed a request: /metrics answered 500"):
        boot(tmp_path, unscraped=True)
