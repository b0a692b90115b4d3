"""What stands in for what a machine lacks: applied by name, alike for all, and never quietly."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lanewright.errors import ExitCode, HardwareError, LanewrightError
from lanewright.serve.child import BootError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.offline import boot_offline
from lanewright.serve.server import boot_server
from lanewright.serve.shims import check_shims, known_shims
from tests.serve.stand_in import lay_stand_in

EXPERTS = "vllm/model_executor/layers/fused_moe/experts/cpu_moe.py"
GATED = "class CPUExpertsMxfp4:\n    _supports_current_device = staticmethod(lambda: {gate})\n"
TORCH = """
class cpu:
    _is_amx_tile_supported = staticmethod(lambda: {amx})
class ops:
    class _C:
        {ops} = [None] * {count}
"""
MXFP4 = ("convert_weight_packed", "convert_scale_packed", "fused_experts_cpu")
PORT = """
class DeepseekV4CPUSparseSWAMetadataBuilder:
    build_tile_scheduler = lambda _, __: {}
"""


def shimmed(
    folder: Path,
    *,
    gate: bool = False,
    amx: bool = False,
    ops: Sequence[str] = MXFP4,
    name: str = "mxfp4-without-amx",
) -> LaneEnv:
    """A stand-in that has the gate of packed experts and these ops, on a machine of this kind."""
    env = lay_stand_in(folder)
    file = env.site / EXPERTS
    file.parent.mkdir()
    file.write_text(GATED.format(gate=gate))
    with (env.site / "torch.py").open("a") as torch:
        torch.write(TORCH.format(amx=amx, ops="[" + ", ".join(ops) + "]", count=len(ops)))
    return LaneEnv(env.python, env.site, env.bytecode, (name,))


def test_known_shims_are_named_in_order() -> None:
    assert known_shims() == ("deepseek-v4-on-cpu", "mxfp4-without-amx", "triton-interpreter")
    assert check_shims(["triton-interpreter", "mxfp4-without-amx"], "here") == (
        "triton-interpreter",
        "mxfp4-without-amx",
    )


@pytest.mark.parametrize("name", ["other", "__init__", "mxfp4_without_amx", ""])
def test_an_unknown_shim_is_refused_with_the_known_ones(name: str) -> None:
    told = f"a.toml: no shim '{name}'; known: {', '.join(known_shims())}"
    with pytest.raises(LanewrightError) as caught:
        check_shims(["triton-interpreter", name], "a.toml")
    assert str(caught.value).startswith(told)
    assert caught.value.exit_code == 1


def test_a_shim_is_named_once() -> None:
    with pytest.raises(LanewrightError, match="'triton-interpreter' is named twice"):
        check_shims(["triton-interpreter"] * 2, "a.toml")


def test_offline_engines_stand_on_them(tmp_path: Path) -> None:
    env = shimmed(tmp_path)
    found = boot_offline(env, tmp_path / "m", {}, tmp_path, device="cpu")
    assert found.completions
    assert "shim mxfp4-without-amx: after vllm" in (tmp_path / "offline.log").read_text()


def test_the_server_stands_on_them(tmp_path: Path) -> None:
    env = shimmed(tmp_path)
    found = boot_server(env, tmp_path / "m", {}, tmp_path, device="cpu")
    assert found.health
    assert Path(found.command[1]).name == "serve.py"
    assert "shim mxfp4-without-amx: after vllm" in (tmp_path / "server.log").read_text()


def test_a_lane_without_shims_runs_vllms_own_server(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    assert "LANEWRIGHT_SHIMS" not in env.environ()
    found = boot_server(env, tmp_path / "m", {}, tmp_path, device="cpu")
    assert found.command[1:3] == ("-m", "vllm.entrypoints.openai.api_server")


def test_the_shells_own_shims_are_none_of_a_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWRIGHT_SHIMS", "triton-interpreter")
    assert "LANEWRIGHT_SHIMS" not in LaneEnv(Path(), Path(), Path()).environ()
    shims = ("a", "b")
    assert LaneEnv(Path(), Path(), Path(), shims).environ()["LANEWRIGHT_SHIMS"] == "a,b"


def test_a_shim_that_has_nothing_to_change_is_named(tmp_path: Path) -> None:
    env = shimmed(tmp_path, gate=True)
    told = r"shim mxfp4-without-amx: .*does without AMX by itself: drop this shim"
    for boot in (boot_offline, boot_server):
        with pytest.raises(BootError, match=told) as caught:
            boot(env, tmp_path / "m", {}, tmp_path, device="cpu")
        assert caught.value.exit_code == 1


def test_ops_that_torch_cannot_complete_are_missing_hardware(tmp_path: Path) -> None:
    env = shimmed(tmp_path, ops=MXFP4[:2])
    told = "shim mxfp4-without-amx: not here: vLLM's build .* without fused_experts_cpu"
    require_missing(env, tmp_path, told)


def test_some_of_deepseek_v4s_kernels_are_missing_hardware(tmp_path: Path) -> None:
    env = shimmed(tmp_path, ops=["bmm_cpu", *MXFP4], name="deepseek-v4-on-cpu")
    for module, text in {
        "models/deepseek_v4/cpu/cpu_mla": PORT,
        "v1/attention/backends/mla/sparse_swa": "_LAYER_TYPE_NEW = 'new'\n",
    }.items():
        file = env.site / "vllm" / f"{module}.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    told = "shim deepseek-v4-on-cpu: not here: .* DeepSeek-V4 without biased_topk_cpu, compress_"
    require_missing(env, tmp_path, told)


def require_missing(env: LaneEnv, folder: Path, told: str) -> None:
    """Both boots end with the exit code of missing hardware, and say what is missing."""
    for boot, process in ((boot_offline, "offline"), (boot_server, "server")):
        with pytest.raises(HardwareError, match=f"^{process} needs hardware .*: {told}") as caught:
            boot(env, folder / "m", {}, folder, device="cpu")
        assert caught.value.exit_code == ExitCode.HARDWARE
        assert str(folder / f"{process}.log") in str(caught.value.hint)


def test_a_machine_that_lacks_nothing_is_left_alone(tmp_path: Path) -> None:
    env = shimmed(tmp_path, amx=True, gate=True)
    assert boot_offline(env, tmp_path / "m", {}, tmp_path, device="cpu").completions


@pytest.mark.parametrize("name", ["deepseek-v4-on-cpu", "triton-interpreter"])
def test_what_moved_upstream_is_named(tmp_path: Path, name: str) -> None:
    env = shimmed(tmp_path, name=name)
    with pytest.raises(BootError, match=f"shim {name}: No module named"):
        boot_offline(env, tmp_path / "m", {}, tmp_path, device="cpu")
