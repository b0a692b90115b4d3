"""The main job on real vLLM, on the releases that bracket the serving commit and after."""

import pytest

from tests.engine.conftest import Lane
from tests.engine.counting import LAYERS, K

pytestmark = pytest.mark.engine

PINS = ("0.30.0", "0.31.0", "0.32.0")
ENTRY = '[[entry]]\npatch = "own/moe-usage-counter.patch"\n'


@pytest.mark.parametrize("version", PINS)
def test_same_series_builds_and_boots(lane: Lane, version: str) -> None:
    lane.pin(version)
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 0
    (record,) = lane.records()
    assert record["verdict"] == "passed"
    offline = record["boots"]["offline"]
    assert offline["vllm"].startswith(version)
    assert {worker["moe_usage_counter"] for worker in offline["status"]} == {True}
    assert all(completion["ids"] for completion in offline["completions"])
    (proof,) = offline["proofs"]
    assert proof["on"]
    facts = proof["facts"]
    assert facts["picks"] == facts["tokens_by_answers"] * K * LAYERS > 0


def test_off_by_default_means_vllms_own_experts_no_op_and_no_counts(lane: Lane) -> None:
    lane.replace("moe_usage_counter = true\n", "")
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 0
    (record,) = lane.records()
    offline = record["boots"]["offline"]
    (worker,) = offline["status"]
    assert worker["plugin"] is True
    assert worker["moe_usage_counter"] is False
    assert worker["experts"] == [
        "vllm.model_executor.layers.fused_moe.routed_experts.RoutedExperts"
    ]
    assert worker["ops"] is False
    assert offline["usage"] == [None]
    assert record["usage"] is None
    (proof,) = offline["proofs"]
    assert not proof["on"]


def test_counter_without_its_worker_class_fails_by_its_name(
    lane: Lane, capfd: pytest.CaptureFixture[str]
) -> None:
    lane.replace(
        "moe_usage_counter = true\n",
        'moe_usage_counter = true\nworker_cls = "vllm.v1.worker.cpu_worker.CPUWorker"\n',
    )
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 5
    err = capfd.readouterr().err
    assert "moe_usage_counter is on and proves nothing" in err
    assert "worker_cls" in err
    (record,) = lane.records()
    assert record["error"]["exit_code"] == 5


@pytest.mark.parametrize("version", PINS)
def test_without_the_hook_patch_the_flag_is_unknown(
    lane: Lane, version: str, capfd: pytest.CaptureFixture[str]
) -> None:
    lane.pin(version)
    lane.replace(ENTRY, "")
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 1
    assert "unexpected keyword argument 'moe_usage_counter'" in capfd.readouterr().err
    (record,) = lane.records()
    assert record["verdict"] == "failed"
    assert record["error"]["exit_code"] == 1


def test_server_answers_like_the_offline_engine(
    lane: Lane, capfd: pytest.CaptureFixture[str]
) -> None:
    assert lane.run("build") == 0
    assert lane.run("boot") == 0
    (record,) = lane.records()
    offline, server = record["boots"]["offline"], record["boots"]["server"]
    assert [c["ids"] for c in server["completions"]] == [c["ids"] for c in offline["completions"]]
    out = capfd.readouterr().out
    assert record["tree"] in out
    assert "passed" in out
