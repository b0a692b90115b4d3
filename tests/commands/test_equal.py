"""``equal`` and ``boot --equal`` from the command line, against a stand-in for vLLM.

``stand_in_lane`` lays the project.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.serve.model import recipe_hash
from tests.commands.stand_in_lane import RECIPE, Lay
from tests.conftest import World

Capture = pytest.CaptureFixture[str]
BROKEN = b'raise SystemExit("this release does not even import")\n'


def record(world: World) -> dict[str, Any]:
    (file,) = world.places.state.glob("runs/sample/*/record.json")
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_equal_compares_in_both_modes_and_prints_a_summary(lay: Lay, capfd: Capture) -> None:
    world = lay()
    capfd.readouterr()
    assert world.run("equal") == 0
    captured = capfd.readouterr()
    found = record(world)
    assert captured.out.startswith("lane sample: passed\n")
    assert f"equality equal: baseline is the unpatched pin's tree {found['pin']['tree'][:12]}" in (
        captured.out
    )
    assert [mode["mode"] for mode in found["equality"]["modes"]] == ["eager", "compiled"]
    assert found["boots"]["server"] is None
    assert "pin: arm eager.baseline: 44 of 44 prompts" in captured.err


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_equal_in_one_mode(lay: Lay, mode: str) -> None:
    world = lay()
    assert world.run("equal", "sample", "--mode", mode) == 0
    assert [each["mode"] for each in record(world)["equality"]["modes"]] == [mode]


def test_a_lane_that_compares_less_says_so(lay: Lay, capfd: Capture) -> None:
    world = lay()
    series = world.root / "series" / "sample.toml"
    less = '[equality]\nprompts = 5\ntokens = 16\ndistinct = 40\nmodes = ["eager"]\n\n'
    series.write_text(series.read_text().replace("[engine]", f"{less}[engine]"))
    capfd.readouterr()
    assert world.run("equal") == 0
    told = (
        "5 of 44 prompts, 16 of 64 tokens a prompt, 40 distinct tokens needed, not 200, only eager"
    )
    out = capfd.readouterr().out
    assert "equality equal, of less than by default: baseline is the unpatched pin's" in out
    assert f"asked for less than by default: {told}\n" in out
    found = record(world)["equality"]
    assert (found["tokens"], ", ".join(found["fewer"])) == (16, told)
    (mode,) = found["modes"]
    assert (mode["mode"], {row["prompts"] for row in mode["rows"]}) == ("eager", {5})


@pytest.mark.parametrize("command", ["boot", "equal"])
def test_an_unknown_shim_ends_with_1_before_anything_runs(
    lay: Lay, capfd: Capture, command: str
) -> None:
    world = lay()
    series = world.root / "series" / "sample.toml"
    named = '[boot]\nshims = ["mxfp4-without-amx", "magic"]\n\n'
    series.write_text(series.read_text().replace("[engine]", f"{named}[engine]"))
    assert world.run(command) == 1
    err = capfd.readouterr().err
    assert "[boot] shims: no shim 'magic'; known: deepseek-v4-on-cpu, mxfp4-without-amx" in err
    assert not list(world.places.state.glob("runs/*"))


def test_shims_stand_under_pin_and_lane_and_are_told(lay: Lay, capfd: Capture) -> None:
    gated = b"class CPUExpertsMxfp4:\n    _supports_current_device = staticmethod(lambda: False)\n"
    experts = "vllm/model_executor/layers/fused_moe/experts/cpu_moe.py"
    world = lay(release={experts: gated})
    (torch,) = world.places.bases.glob("*/torch.py")
    with torch.open("a") as file:
        file.write("class cpu:\n    _is_amx_tile_supported = staticmethod(lambda: False)\n")
        file.write("class ops:\n    class _C:\n        convert_weight_packed = None\n")
        file.write("        convert_scale_packed = fused_experts_cpu = None\n")
    series = world.root / "series" / "sample.toml"
    named = '[boot]\nshims = ["mxfp4-without-amx"]\n\n'
    series.write_text(series.read_text().replace("[engine]", f"{named}[engine]"))
    assert world.run("equal", "--mode", "eager") == 0
    out = capfd.readouterr().out
    assert "shims    mxfp4-without-amx: of this machine, under pin and lane alike" in out
    found = record(world)
    assert found["shims"] == ["mxfp4-without-amx"]
    for name in ("offline.log", "equality/pin.log", "equality/lane.log"):
        log = (Path(found["folder"]) / name).read_text()
        assert log.count("shim mxfp4-without-amx: after vllm") == 1


@pytest.mark.parametrize("command", ["boot", "equal"])
def test_what_stands_in_for_hardware_is_in_no_image(lay: Lay, capfd: Capture, command: str) -> None:
    world = lay()
    series = world.root / "series" / "sample.toml"
    named = '[boot]\nshims = ["mxfp4-without-amx"]\n\n'
    series.write_text(series.read_text().replace("[engine]", f"{named}[engine]"))
    capfd.readouterr()
    assert world.run(command, "--in-image") == 6
    err = capfd.readouterr().err
    assert "stands in for hardware here (mxfp4-without-amx), which is no part of an image" in err
    assert "next: `lanewright boot sample` without --in-image" in err
    assert not [*world.places.state.glob("runs/*/*")]


def test_boot_compares_where_it_is_asked_to(lay: Lay, capfd: Capture) -> None:
    world = lay()
    assert world.run("boot", "--equal") == 0
    found = record(world)
    assert (found["equality"]["verdict"], found["agree"]) == ("equal", True)
    assert capfd.readouterr().out.count("1122 picks = 187 scheduled tokens") == 2


def test_boot_alone_compares_nothing(lay: Lay, capfd: Capture) -> None:
    world = lay()
    assert world.run("boot", "--no-server") == 0
    assert record(world)["equality"] is None
    assert "equality" not in capfd.readouterr().out


def test_a_patch_that_changes_an_answer_ends_with_5_and_says_where(
    lay: Lay, capfd: Capture
) -> None:
    changed = ("vllm/sampler.py", "gap = (", "likeliest *= 1 + (index == 5)\n    gap = (")
    world = lay(edit=changed)
    capfd.readouterr()
    assert world.run("equal", "--mode", "eager") == 5
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "lanewright: lane sample: equality with its baseline: differs" in captured.err
    assert "prompt 1 'A', index 5: token " in captured.err
    assert "in both, with another logprob (top-2 gap " in captured.err
    assert f"next: every answer is in {record(world)['folder']}/equality; " in captured.err
    assert captured.err.endswith("`lanewright bisect sample --equal`\n")


def test_a_pin_that_does_not_boot_ends_with_1_and_says_so(lay: Lay, capfd: Capture) -> None:
    world = lay(release={"vllm/__init__.py": BROKEN})
    capfd.readouterr()
    assert world.run("equal", "--mode", "eager") == 1
    err = capfd.readouterr().err
    assert "lanewright: no baseline, so nothing was compared: the unpatched pin ended" in err
    assert "this release does not even import" in err
    assert record(world)["equality"] is None


@pytest.mark.parametrize("command", [["equal"], ["boot", "--equal"]])
def test_a_lane_without_a_lock_is_not_run(world: World, capfd: Capture, command: list[str]) -> None:
    assert world.run(*command) == 4
    assert "next: lanewright build sample" in capfd.readouterr().err
    assert not world.places.state.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["equal", "--mode", "fast"],
        ["equal", "--mode"],
        ["equal", "--port", "1"],
        ["boot", "--mode"],
        ["boot", "--resume"],
    ],
)
def test_what_cannot_be_read_ends_with_2(capfd: Capture, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    assert ended.value.code == 2
    assert "usage: lanewright" in capfd.readouterr().err


def test_the_environment_of_a_lane_runs_it(
    lay: Lay, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    world = lay()
    told = 'moe_usage_counter = true\nmax_num_seqs = 16\nnote = "it\'s $HOME"'
    world.edit("series/sample.toml", "moe_usage_counter = true", told)
    assert world.run("build") == 0
    capfd.readouterr()
    assert world.run("env") == 0
    script = capfd.readouterr().out + '"$LANE_PYTHON" -c "import vllm; print(vllm.__file__)"\n'
    script += 'echo "$LANE_MODEL"\necho "${PYTHONDONTWRITEBYTECODE-unset}"\n'
    script += 'echo "$EXPERT_BANK_STATS"\neval "set -- $LANE_FLAGS"\nprintf "%s\\n" "$@"\n'
    shell = subprocess.run(["sh"], input=script, capture_output=True, text=True, check=True)
    *_, file, model, bytecode, stats, extension, worker, counter, seqs, note = (
        shell.stdout.splitlines()
    )
    assert Path(file).is_relative_to(world.places.sites)
    assert Path(model).name == f"{RECIPE}-{recipe_hash(RECIPE)[:12]}"
    assert bytecode == "unset"
    assert Path(stats) == world.places.state / "stats" / "sample"
    assert Path(stats).is_dir()
    assert extension == "--worker-extension-cls=expert_bank.glue.extension.WorkerExtension"
    assert worker == "--worker-cls=expert_bank.glue.cpu_worker.CPUWorker"
    assert (counter, seqs, note) == (
        "--moe-usage-counter",
        "--max-num-seqs=16",
        "--note=it's $HOME",
    )
