"""How the map does, seen beside a real server: ``/metrics``, the stats file and the log."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from expert_bank.metrics import AGE, METRICS
from expert_bank.staging_metrics import STAGING
from expert_bank.stats_file import checked, read_stats
from lanewright.__main__ import run
from lanewright.serve.boot import PROMPTS, engine_arguments
from lanewright.serve.child import child, watch
from lanewright.serve.client import healthy, post, request
from lanewright.serve.environment import STATS
from lanewright.serve.flags import flags
from lanewright.serve.length import LEAST
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.server import MODULE, complete
from tests.engine.conftest import ROOT
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

SAMPLE = re.compile(r"(expert_bank_\w+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'(\w+)="([^"]*)"')
COMMON = ("model_name", "engine")


@dataclass(frozen=True)
class Server:
    """A server that answers, whose map follows traffic.

    Attributes:
        port: Where.
        stats: Its stats file.
        log: What it has said so far.
    """

    port: int
    stats: Path
    log: Path

    def call(self, method: str, *args: object) -> Any:  # noqa: ANN401 - JSON
        body = {"method": method, "args": args}
        (found,) = post(self.port, "/collective_rpc", body, seconds=60)["results"]
        return found

    def metrics(self) -> dict[tuple[str, str], float]:
        """Our samples by name and by those labels, as they are written, that vLLM's do not have."""
        status, text = request(self.port, "GET", "/metrics", None, seconds=30)
        assert status == 200
        (theirs,) = re.findall(r"^vllm:num_requests_running\{(.*)\}", text.decode(), re.MULTILINE)
        found = {}
        for each in filter(None, map(SAMPLE.fullmatch, text.decode().splitlines())):
            labels = dict(LABEL.findall(each[2] or ""))
            common = {name: labels.pop(name) for name in COMMON if name in labels}
            assert common == ({} if each[1] == AGE else dict(LABEL.findall(theirs)))
            key = each[1], ",".join(f'{name}="{value}"' for name, value in labels.items())
            assert key not in found
            found[key] = float(each[3])
        return found


@pytest.fixture(scope="module")
def server(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made, folder, port = (
        laid("0.32.0", "cpu-twobank"),
        tmp_path_factory.mktemp("server"),
        usable_port(None),
    )
    env, stats = made.lane.env, folder / "stats.json"
    engine = {
        **made.lane.engine,
        "moe_follow": "every=4,residence=0,tokens_per_swap=0,half_life=64,margin=1,noise=0",
    }
    # What an earlier server left there is no number of this one's.
    stats.write_text("{}")
    command = [str(env.python), "-m", MODULE, f"--model={made.model}", "--served-model-name=m"]
    command += [f"--host={HOST}", f"--port={port}", *flags(engine_arguments(env, engine, "cpu"))]
    environ = {**env.environ(), "VLLM_SERVER_DEV_MODE": "1", STATS: str(stats)}
    log = folder / "server.log"
    with child("server", command, environ=environ, log=log) as process:
        if watch(process, seconds=600, ready=lambda: healthy(port)) is not None:
            raise process.died("did not come up")
        yield Server(port, stats, log)


def test_metrics_are_what_the_workers_count(server: Server) -> None:
    before = read_stats(server.stats)
    assert (before["tokens"], before["forwards"], before["state"]) == (0, 0, "follows")
    for prompt in PROMPTS:
        complete(server.port, "m", prompt, LEAST)
    usage, banks = server.call("expert_bank_usage"), server.call("expert_bank_banks")
    stats = checked(server.call("expert_bank_stats"))
    assert stats == read_stats(server.stats)
    assert not banks["audit"]
    found = server.metrics()
    # There is no staging buffer.
    named = {each.name for each in METRICS} - {each.name for each in STAGING}
    assert {name for name, _ in found} == {AGE, *named}
    for layer, counts in zip(usage["layers"], usage["counts"], strict=True):
        hot, cold = (
            found["expert_bank_picks_total", f'bank="{bank}",layer="{layer}"']
            for bank in ("hot", "cold")
        )
        assert hot + cold == sum(counts) == usage["tokens"] * usage["picks_per_token"] > 0
    swaps = [found["expert_bank_swaps_total", f'layer="{layer}"'] for layer in usage["layers"]]
    assert sum(swaps) == banks["swaps"] > 0
    for name, told in (
        ("swap_bytes_total", "bytes"),
        ("barriers_total", "barriers"),
        ("barrier_seconds_total", "seconds"),
        ("forwards_total", "forwards"),
    ):
        assert found[f"expert_bank_{name}", ""] == pytest.approx(banks[told])
        assert banks[told] > 0
    # Which of two maps does better out of sample is the traffic's, and so the processor's, affair.
    for of, told in (("served", "late"), *((each, each) for each in ("boot", "oracle", "null"))):
        assert found["expert_bank_cold_share", f'of="{of}"'] == pytest.approx(stats["cold"][told])
        assert 0 < stats["cold"][told] < 1
    assert stats["cold"]["null"] == 1 - 12 / 16
    for of in ("served", "oracle"):
        assert found["expert_bank_cold_picks_total", f'of="{of}"'] == stats["regret"][of] > 0
    assert 0 <= found[AGE, ""] < 60


def test_a_terminal_shows_it_from_the_file_and_from_the_server(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    stats = server.call("expert_bank_stats")
    for whence in (["--file", str(server.stats)], ["--port", str(server.port)]):
        assert run(["-C", str(ROOT), "residency", "top", "--once", *whence]) == 0
        first, *_, last = capfd.readouterr().out.splitlines()
        assert first.startswith("following  /")
        assert last.split()[1:3] == ["12/16", f"{stats['tokens'] * stats['picks_per_token']:,}"]


def test_another_servers_numbers_are_not_shown(server: Server) -> None:
    server.call("expert_bank_stats")
    own = server.stats.read_text()
    for text in (json.dumps({**json.loads(own), "server": "another"}), "{"):
        server.stats.write_text(text)
        assert server.metrics() == {(AGE, ""): float("inf")}
    server.call("expert_bank_stats")
    assert server.metrics()[AGE, ""] < 60


def test_freezing_is_seen_and_logged(server: Server) -> None:
    server.call("expert_bank_freeze", True)  # noqa: FBT003 - by RPC
    complete(server.port, "m", PROMPTS[0], LEAST)
    server.call("expert_bank_stats")
    assert server.metrics()["expert_bank_frozen", ""] == 1
    log = server.log.read_text()
    assert (
        "expert_bank: 12 of 16 experts hot in 4 layers; the map follows traffic, every 4 forwards"
        in log
    )
    assert "the map that follows traffic is frozen" in log
