"""What switches a feature on, and what upstream knows none of."""

from typing import Any

import pytest

from lanewright.serve.features import FEATURES, switched_on, without_features

PLAIN = {"max_model_len": 512, "enforce_eager": True, "additional_config": {"a": 1}}


@pytest.mark.parametrize(
    ("engine", "on"),
    [
        ({}, ()),
        ({"moe_usage_counter": False, "moe_hot_experts": ""}, ()),
        ({"moe_usage_counter": True}, ("moe_usage_counter",)),
        ({"moe_hot_experts": "0"}, ("moe_hot_experts",)),
        ({"moe_hot_experts": "12", "moe_usage_counter": True}, FEATURES),
        ({"moe_cold_rows": "mirror", "moe_boot_map": "first"}, ()),
    ],
)
def test_a_setting_alone_switches_nothing_on(engine: dict[str, Any], on: tuple[str, ...]) -> None:
    assert switched_on(engine) == on


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("moe_usage_counter", True),
        ("moe_hot_experts", "12"),
        ("moe_cold_rows", "exclusive"),
        ("moe_boot_map", "/maps/usage.json"),
        ("worker_cls", "expert_bank.glue.cpu_worker.CPUWorker"),
        ("worker_extension_cls", "expert_bank.glue.extension.WorkerExtension"),
    ],
)
def test_what_upstream_does_not_know_is_dropped(name: str, value: object) -> None:
    assert without_features({**PLAIN, name: value}) == PLAIN


def test_what_upstream_knows_is_kept() -> None:
    named = {**PLAIN, "worker_cls": "vllm.v1.worker.cpu_worker.CPUWorker"}
    assert without_features(named) == named
