"""Both boots against a stand-in for vLLM: real processes, a real server, no engine."""

import socket
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.serve.boot import EXTENSION, MAX_TOKENS, PROMPTS
from lanewright.serve.child import BootError, child, watch
from lanewright.serve.client import healthy, serves
from lanewright.serve.offline import boot_offline
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.server import MODULE, boot_server
from tests.serve.stand_in import lay_stand_in

ON = {"moe_usage_counter": True}


def test_offline_boot_answers_and_proves(tmp_path: Path) -> None:
    found = boot_offline(lay_stand_in(tmp_path), tmp_path / "model", ON, tmp_path)
    assert (found.vllm, found.torch) == ("9.9.9", "9.9.9+cpu")
    assert found.vllm_file == str(tmp_path / "site" / "vllm" / "__init__.py")
    assert [each.prompt for each in found.completions] == [*PROMPTS]
    assert all(len(each.ids) == MAX_TOKENS for each in found.completions)
    assert [(each["plugin"], each["moe_usage_counter"]) for each in found.status] == [(True, True)]
    assert [*found.seconds] == ["import", "engine", "generate"]


def test_server_boot_answers_as_offline_does(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    port = usable_port(None)
    served = boot_server(env, tmp_path / "model", ON, tmp_path, port=port)
    assert served.port == port
    assert served.health
    assert served.completions == boot_offline(env, tmp_path / "model", ON, tmp_path).completions
    assert [each["moe_usage_counter"] for each in served.status] == [True]
    assert usable_port(port) == port, "the server still listens"


def test_a_lane_without_the_overlay_boots(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path, bank=False)
    assert boot_offline(env, tmp_path, {}, tmp_path).status == ()
    assert boot_server(env, tmp_path, {}, tmp_path).status == ()


def test_a_plugin_that_vllm_did_not_load_is_a_mismatch(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path, plugin=False)
    with pytest.raises(MismatchError, match="expert_bank is on the path, but"):
        boot_offline(env, tmp_path, ON, tmp_path)
    with pytest.raises(MismatchError, match="expert_bank is on the path, but"):
        boot_server(env, tmp_path, ON, tmp_path)


def test_a_feature_that_nothing_can_prove_is_a_mismatch(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path, bank=False)
    with pytest.raises(MismatchError, match="moe_usage_counter"):
        boot_offline(env, tmp_path, ON, tmp_path)


def test_a_feature_that_is_on_unasked_is_a_mismatch(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    vllm = tmp_path / "site" / "vllm" / "__init__.py"
    vllm.write_text(vllm.read_text().replace("moe_usage_counter=counter", "moe_usage_counter=1"))
    with pytest.raises(MismatchError, match="asked to be False"):
        boot_offline(env, tmp_path, {}, tmp_path)


def test_an_engine_that_dies(tmp_path: Path) -> None:
    with pytest.raises(BootError, match="ended with exit status 1") as caught:
        boot_offline(lay_stand_in(tmp_path), tmp_path, {"dies": True}, tmp_path)
    assert "the stand-in engine was told to die" in str(caught.value)
    assert str(tmp_path / "offline.log") in str(caught.value)


def test_a_server_that_dies(tmp_path: Path) -> None:
    with pytest.raises(BootError, match="status 1 before it was up") as caught:
        boot_server(lay_stand_in(tmp_path), tmp_path, {"dies": True}, tmp_path)
    assert "the stand-in server was told to die" in str(caught.value)


def test_a_server_that_refuses(tmp_path: Path) -> None:
    with pytest.raises(BootError, match=r"/v1/completions answered 500: .*told to refuse"):
        boot_server(lay_stand_in(tmp_path), tmp_path, {"refuses": True}, tmp_path)


def test_an_unknown_engine_argument_is_named(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    with pytest.raises(BootError, match="no_such_thing"):
        boot_offline(env, tmp_path, {"no_such_thing": True}, tmp_path)
    with pytest.raises(BootError, match="--no-such-thing"):
        boot_server(env, tmp_path, {"no_such_thing": True}, tmp_path)


def test_a_busy_port_is_told_before_anything_runs(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LanewrightError, match=f"port {port}"):
            boot_server(lay_stand_in(tmp_path), tmp_path, {}, tmp_path, port=port)
    assert not (tmp_path / "server.log").exists()


def test_the_boots_own_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LanewrightError, match="engine argument model, port"):
        boot_offline(lay_stand_in(tmp_path), tmp_path, {"port": 1, "model": "x"}, tmp_path)


def test_a_server_on_the_same_port_proves_nothing_for_another(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    port = usable_port(None)
    folder = tmp_path / "other"
    folder.mkdir()
    command = [str(env.python), "-m", MODULE, "--served-model-name=another", f"--host={HOST}"]
    command += [f"--port={port}", f"--worker-extension-cls={EXTENSION}", "--moe-usage-counter"]
    environ = {**env.environ(), "VLLM_SERVER_DEV_MODE": "1"}
    with child("other", command, environ=environ, log=folder / "log") as running:
        watch(running, seconds=30, ready=lambda: healthy(port))
        assert serves(port, "another")
        assert not serves(port, "model-1234")
