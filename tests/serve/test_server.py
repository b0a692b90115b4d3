"""What only the server can do wrong."""

import socket
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.boot import PROMPTS
from lanewright.serve.child import BootError
from lanewright.serve.client import RefusedError, serves
from lanewright.serve.environment import LaneEnv
from lanewright.serve.length import LEAST
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.server import ServerBoot, boot_server, complete
from tests.serve.stand_in import lay_stand_in, running


def boot(env: LaneEnv, folder: Path, port: int | None = None) -> ServerBoot:
    return boot_server(env, folder / "model", {}, folder, device="cpu", port=port)


def test_the_port_that_is_asked_for_is_used_and_given_back(tmp_path: Path) -> None:
    port = usable_port(None)
    found = boot(lay_stand_in(tmp_path), tmp_path, port)
    assert (found.port, found.health) == (port, True)
    assert [*found.seconds] == ["ready", "requests", "stop"]
    assert f"--port={port}" in found.command
    assert usable_port(port) == port, "the server still listens"


def test_its_worker_tells_of_the_map_beside_the_log_whatever_the_shell_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPERT_BANK_STATS", "/elsewhere/stats.json")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder, bank in ((ours, True), (theirs, False)):
        folder.mkdir()
        boot(lay_stand_in(folder, bank=bank), folder)
    assert f"stats in {ours / 'stats.json'}\n" in (ours / "server.log").read_text()
    assert "stats in None\n" in (theirs / "server.log").read_text()


@pytest.mark.parametrize(
    ("lies", "told"),
    [
        ({"dies": True}, "status 1 before it was up"),
        ({"killed": 9}, "was ended by SIGKILL before it was up"),
        ({"refuses": "/v1/completions"}, "/v1/completions answered 500: .*told to refuse"),
        ({"refuses": "/collective_rpc"}, "/collective_rpc answered 500: .*told to refuse"),
        ({"silent": True}, "/v1/completions answered without token ids"),
        ({"faints": len(PROMPTS)}, "no longer answered /health after the completions"),
    ],
)
def test_a_server_that_fails_says_where(tmp_path: Path, lies: dict[str, Any], told: str) -> None:
    with pytest.raises(BootError, match=told):
        boot(lay_stand_in(tmp_path, lies=lies), tmp_path)


def test_a_busy_port_is_told_before_anything_runs(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LanewrightError, match=f"port {port}"):
            boot(lay_stand_in(tmp_path), tmp_path, port)
    assert not (tmp_path / "server.log").exists()


def test_a_server_on_the_same_port_proves_nothing_for_another(tmp_path: Path) -> None:
    with running(lay_stand_in(tmp_path), tmp_path, "another") as port:
        assert serves(port, "another")
        assert not serves(port, "model-1234")


def test_the_servers_own_count_of_cached_tokens_is_read(tmp_path: Path) -> None:
    prompt = PROMPTS[0]
    with running(
        lay_stand_in(tmp_path), tmp_path, "model", "--enable-prompt-tokens-details"
    ) as port:
        first, second = (
            complete(port, "model", prompt, LEAST),
            complete(port, "model", prompt, LEAST),
        )
    assert first.ids == second.ids
    assert first.prompt_tokens == second.prompt_tokens == len(prompt)
    assert (first.cached_tokens, second.cached_tokens) == (0, 32)


def test_cached_tokens_are_none_that_were_scheduled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = PROMPTS[0]
    monkeypatch.setattr("lanewright.serve.asking.PROMPTS", (prompt, prompt))
    engine = {"moe_usage_counter": True}
    found = boot_server(lay_stand_in(tmp_path), tmp_path, engine, tmp_path, device="cpu")
    assert [each.cached_tokens for each in found.completions] == [0, 32]
    assert found.proofs[0].facts["tokens"] == 2 * (len(prompt) + LEAST - 1) - 32


def test_a_stop_token_is_passed_over(tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path, lies={"vocabulary": 3}), tmp_path)
    assert {len(each.ids) for each in found.completions} == {LEAST}


def test_an_answer_without_token_ids_is_refused(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path, lies={"silent": True})
    with (
        running(env, tmp_path, "model") as port,
        pytest.raises(RefusedError, match="answered without token ids"),
    ):
        complete(port, "model", "A", LEAST)
