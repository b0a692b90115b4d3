"""Swaps before every forward while the engine is asked to sleep or to reload, stopped, or killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.client import OK, RefusedError, post, request
from lanewright.serve.equality.arms import FOLLOWED
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
EVERY_FORWARD = ("expert_bank_force", (1, 4, 20261201))
# Before every forward, by traffic: no hysteresis, no memory, no guard.
WHIM = (FOLLOWED[0], ({**FOLLOWED[1][0], "every": 1, "half_life": 1},))
WAYS: dict[str, tuple[str, tuple[str, tuple[Any, ...]]]] = {
    "forced": ("mirror", EVERY_FORWARD),
    "followed": ("mirror", WHIM),
    "forced-file": ("file", EVERY_FORWARD),
    "followed-file": ("file", WHIM),
}


@pytest.fixture(scope="module")
def lane(laid: Callable[..., Laid]) -> Laid:
    return laid("0.32.0", "cpu-twobank")


@pytest.fixture(scope="module")
def expected(lane: Laid, tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    """Answers with all experts resident."""
    engine = {name: value for name, value in ENGINE.items() if name != "moe_hot_experts"}
    with served(lane, engine, tmp_path_factory.mktemp("resident")) as server:
        return server.ask_one_by_one(PROMPTS, TOKENS)


@contextmanager
def swapped(lane: Laid, folder: Path, way: str) -> Iterator[Server]:
    """A server whose rows are swapped before every forward, or whenever traffic turns."""
    mode, (method, arguments) = WAYS[way]
    with served(lane, {**ENGINE, "moe_cold_rows": mode}, folder) as server:
        server.rpc(method, *arguments)
        yield server


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    """Every way."""
    return str(request.param)


@pytest.fixture
def swapping(lane: Laid, tmp_path: Path, way: str) -> Iterator[Server]:
    """The same, of every way."""
    with swapped(lane, tmp_path, way) as server:
        yield server


def least(way: str, *, followed: int) -> int:
    """Swaps that there must be: before every forward where they are forced, else as traffic turns."""
    return 1001 if WAYS[way][1] == EVERY_FORWARD else followed


def swaps(server: Server) -> int:
    (banks,) = server.rpc("expert_bank_banks")
    assert (banks["audit"], banks["failures"]) == ([], [])
    return int(banks["swaps"])


def require_right_as_far_as_it_goes(answers: Sequence[Any], expected: list[list[int]]) -> None:
    """What was cut short has the right beginning, and what failed was told."""
    for each, right in zip(answers, expected, strict=True):
        if (error := each.exception()) is not None:
            assert isinstance(error, RefusedError), error
        else:
            assert each.result() == right[: len(each.result())]


def wait_for_swaps(server: Server) -> None:
    before = swaps(server)
    deadline = time.monotonic() + SECONDS
    while swaps(server) < before + 64:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_refused_in_the_midst_of_swaps_changes_no_answer(
    swapping: Server, way: str, expected: list[list[int]]
) -> None:
    with swapping.asked(PROMPTS, TOKENS) as answers:
        wait_for_swaps(swapping)
        for method in ("reload_weights", "reset_weights", "save_sharded_state"):
            with pytest.raises(RefusedError):
                swapping.rpc(method)
        wait_for_swaps(swapping)
        assert not all(each.done() for each in answers)
    assert [each.result() for each in answers] == expected
    assert swaps(swapping) >= least(way, followed=128)
    log = swapping.log.read_text()
    assert "reload_weights: weights cannot be reloaded while experts are in two banks" in log


def test_asleep_it_is_refused_and_awake_again_right(
    swapping: Server, way: str, expected: list[list[int]]
) -> None:
    with swapping.asked(PROMPTS, TOKENS) as answers:
        wait_for_swaps(swapping)
        with pytest.raises(RefusedError):
            post(swapping.port, "/sleep?level=1", {}, seconds=SECONDS)
        # With JSON or with nothing, by release.
        assert request(swapping.port, "POST", "/wake_up", b"", seconds=SECONDS)[0] == OK
    # vLLM ends what was running when it was told to sleep; what came to its end is right.
    require_right_as_far_as_it_goes(answers, expected)
    before = swaps(swapping)
    assert swapping.ask_one_by_one(PROMPTS, TOKENS) == expected
    assert swaps(swapping) > before
    assert swaps(swapping) >= least(way, followed=1)


@pytest.mark.parametrize(
    ("way", "sent"),
    [
        ("forced", signal.SIGTERM),
        ("forced", signal.SIGINT),
        ("forced", signal.SIGKILL),
        ("followed", signal.SIGTERM),
        ("followed", signal.SIGKILL),
        ("forced-file", signal.SIGKILL),
    ],
)
def test_ended_in_the_midst_of_swaps_it_leaves_nothing_and_comes_up_right(
    lane: Laid, expected: list[list[int]], tmp_path: Path, way: str, sent: signal.Signals
) -> None:
    with swapped(lane, tmp_path, way) as server:
        # One whole answer at least; what is asked then may all be cut short.
        assert server.ask(PROMPTS[0], TOKENS) == expected[0]
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
        require_right_as_far_as_it_goes(answers, expected)
    with swapped(lane, tmp_path, way) as server:
        assert server.ask_one_by_one(PROMPTS, TOKENS) == expected
        assert swaps(server) >= least(way, followed=65)
