"""Swaps before every forward while the engine is asked to sleep or to reload, stopped, or killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.client import OK, RefusedError, post, request
from tests.engine.lane_python import Laid
from tests.engine.serving import SECONDS, Server, group, served

pytestmark = pytest.mark.engine_full

ENGINE: dict[str, Any] = {
    "max_model_len": 512,
    "max_num_seqs": 1,
    "enforce_eager": True,
    "enable_prefix_caching": False,
    "moe_hot_experts": "12",
}
PROMPTS = [[7 + each, 300, 12, 45 + each] for each in range(6)]
TOKENS = 200
PATIENCE = 20.0
EVERY_FORWARD = (1, 4, 20261201)


@pytest.fixture(scope="module")
def lane(laid: Callable[..., Laid]) -> Laid:
    return laid("0.32.0", "cpu-twobank")


@pytest.fixture(scope="module")
def expected(lane: Laid, tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """Answers with all experts resident."""
    engine = {name: value for name, value in ENGINE.items() if name != "moe_hot_experts"}
    with served(lane, engine, tmp_path_factory.mktemp("resident")) as server:
        return server.ask_one_by_one(PROMPTS, TOKENS)


@pytest.fixture
def swapping(lane: Laid, tmp_path: Path) -> Iterator[Server]:
    """A server whose rows are swapped before every forward."""
    with served(lane, ENGINE, tmp_path) as server:
        server.rpc("expert_bank_force", *EVERY_FORWARD)
        yield server


def swaps(server: Server) -> int:
    (banks,) = server.rpc("expert_bank_banks")
    assert (banks["audit"], banks["failures"]) == ([], [])
    return int(banks["swaps"])


def wait_for_swaps(server: Server) -> None:
    before = swaps(server)
    deadline = time.monotonic() + SECONDS
    while swaps(server) < before + 64:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_refused_in_the_midst_of_swaps_changes_no_answer(
    swapping: Server, expected: list[list[int]]
) -> None:
    with swapping.asked(PROMPTS, TOKENS) as answers:
        wait_for_swaps(swapping)
        for method in ("reload_weights", "reset_weights", "save_sharded_state"):
            with pytest.raises(RefusedError):
                swapping.rpc(method)
        wait_for_swaps(swapping)
        assert not all(each.done() for each in answers)
    assert [each.result() for each in answers] == expected
    assert swaps(swapping) > 1000
    log = swapping.log.read_text()
    assert "reload_weights: weights cannot be reloaded while experts are in two banks" in log


def test_asleep_it_is_refused_and_awake_again_right(
    swapping: Server, expected: list[list[int]]
) -> None:
    with swapping.asked(PROMPTS, TOKENS) as answers:
        wait_for_swaps(swapping)
        with pytest.raises(RefusedError):
            post(swapping.port, "/sleep?level=1", {}, seconds=SECONDS)
        # With JSON or with nothing, by release.
        assert request(swapping.port, "POST", "/wake_up", b"", seconds=SECONDS)[0] == OK
    # vLLM ends what was running when it was told to sleep; what came to its end is right.
    for each, right in zip(answers, expected, strict=True):
        assert each.exception() or each.result() == right[: len(each.result())]
    assert swapping.ask_one_by_one(PROMPTS, TOKENS) == expected
    assert swaps(swapping) > 1000


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_ended_in_the_midst_of_swaps_it_leaves_nothing_and_comes_up_right(
    lane: Laid, expected: list[list[int]], tmp_path: Path, sent: signal.Signals
) -> None:
    with served(lane, ENGINE, tmp_path) as server:
        server.rpc("expert_bank_force", *EVERY_FORWARD)
        # vLLM's server waits for who still waits for an answer.
        with server.asked(PROMPTS, TOKENS, PATIENCE) as answers:
            wait_for_swaps(server)
            # A kill, as a container's end has it: of all its processes.
            (os.killpg if sent is signal.SIGKILL else os.kill)(server.process.pid, sent)
            status = server.process.wait(timeout=SECONDS)
        assert status in (0, -sent)
        deadline = time.monotonic() + 60
        while left := group(server.process.pid):
            assert time.monotonic() < deadline, left
            time.sleep(0.2)
        for each, right in zip(answers, expected, strict=True):
            # What vLLM cut short is right as far as it goes.
            assert each.exception() or each.result() == right[: len(each.result())]
    if sent is signal.SIGKILL:
        with served(lane, ENGINE, tmp_path) as server:
            server.rpc("expert_bank_force", *EVERY_FORWARD)
            assert server.ask_one_by_one(PROMPTS, TOKENS) == expected
            assert swaps(server) > 1000
