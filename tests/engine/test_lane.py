"""The main job on real vLLM, on the releases that bracket the serving commit and after."""

import pytest

from tests.engine.conftest import Lane

pytestmark = pytest.mark.engine

PINS = ("0.30.0", "0.31.0", "0.32.0")
ENTRY = '[[entry]]\npatch = "own/moe-usage-counter.patch"\n'


@pytest.mark.parametrize("version", PINS)
def test_same_series_builds_and_boots(lane: Lane, version: str) -> None:
    if version != "0.32.0":
        lane.pin(version)
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 0
    (record,) = lane.records()
    assert record["verdict"] == "passed"
    offline = record["boots"]["offline"]
    assert offline["vllm"].startswith(version)
    assert {worker["moe_usage_counter"] for worker in offline["status"]} == {True}
    assert all(completion["ids"] for completion in offline["completions"])


def test_flag_off_by_default_reaches_the_worker_as_false(lane: Lane) -> None:
    lane.replace("moe_usage_counter = true\n", "")
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 0
    (record,) = lane.records()
    offline = record["boots"]["offline"]
    assert {worker["moe_usage_counter"] for worker in offline["status"]} == {False}


@pytest.mark.parametrize("version", PINS)
def test_without_the_hook_patch_the_flag_is_unknown(
    lane: Lane, version: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if version != "0.32.0":
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
