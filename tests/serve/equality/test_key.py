"""Whatever determines an arm's answers changes its key, and the folder of its run does not."""

import json
import os
import platform
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.engines import Arm
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality import key
from lanewright.serve.equality.key import Side, driver, key_of
from lanewright.serve.equality.machine import hardware, machine
from tests.serve.equality.fresh import TREE

ENV = LaneEnv(Path("/bases/one/bin/python"), Path("/sites/one"), Path("/pyc"))
ARM = Arm(
    name="eager.mapped",
    engine={"enforce_eager": True, "moe_boot_map": "/runs/1/equality/eager.usage.json"},
    prompts=("A", "B"),
    max_tokens=8,
    together=(2,),
)
SIDE = Side(name="lane", env=ENV, tree=TREE, arms=[ARM])
INTEL = """\
processor\t: 0
model name\t: Some CPU @ 2.00GHz
cpu MHz\t\t: 2000.123
flags\t\t: fpu avx2 avx512f
"""


def keyed(side: Side = SIDE, arm: Arm = ARM, *, model: str = "1" * 64, **environ: str) -> str:
    return key_of(side, arm, model=model, environ=environ)


def with_engine(**changed: object) -> Arm:
    return replace(ARM, engine={**ARM.engine, **changed})


CHANGED: dict[str, dict[str, Any]] = {
    "tree": {"side": replace(SIDE, tree="f" * 40)},
    "release": {"side": replace(SIDE, env=replace(ENV, site=Path("/sites/two")))},
    "base": {"side": replace(SIDE, env=replace(ENV, python=Path("/bases/two/bin/python")))},
    "shims": {"side": replace(SIDE, env=replace(ENV, shims=("triton-interpreter",)))},
    "model": {"model": "2" * 64},
    "engine": {"arm": with_engine(enforce_eager=False)},
    "another map": {"arm": with_engine(moe_boot_map="first")},
    "prompts": {"arm": replace(ARM, prompts=("A", "C"))},
    "tokens": {"arm": replace(ARM, max_tokens=9)},
    "together": {"arm": replace(ARM, together=())},
    "swaps": {"arm": replace(ARM, calls=(("expert_bank_force", (4, 2, 1)),))},
    "exchanged": {"arm": replace(ARM, exchange=True)},
    "keeps": {"arm": replace(ARM, keeps="/runs/1/equality/eager.usage.json")},
    "environment": {"VLLM_SOMETHING": "1"},
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_determines_the_answers_changes_the_key(what: str) -> None:
    assert keyed(**CHANGED[what]) != keyed()


@pytest.mark.parametrize(
    "name",
    [
        "EXPERT_BANK_POISON",
        "ATEN_CPU_CAPABILITY",
        "ONEDNN_MAX_CPU_ISA",
        "CC",
        "CXX",
        "CXXFLAGS",
        "CPLUS_INCLUDE_PATH",
        "C_INCLUDE_PATH",
        "LANG",
        "LC_ALL",
        "LIBRARY_PATH",
        "NUMBA_CPU_NAME",
        "PATH",
        "PYTORCH_NVML_BASED_CUDA_CHECK",
        "TRTLLM_ENABLE_PDL",
    ],
)
def test_what_the_caller_sets_and_an_engine_hears_changes_it(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plain = keyed()
    monkeypatch.setenv(name, "1")
    assert keyed() != plain


def test_another_shell_or_run_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = keyed()
    for name in ("SSH_TTY", "PWD", "CCACHE_DIR"):
        monkeypatch.setenv(name, "/dev/pts/7")
    assert keyed() == plain
    other = with_engine(moe_boot_map="/runs/2/equality/eager.usage.json")
    assert keyed(arm=other) == plain


def test_another_machine_changes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = keyed()
    monkeypatch.setattr(key, "machine", lambda: {**machine(), "cores": 1000})
    assert keyed() != plain


def test_another_driver_changes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain, before = keyed(), driver()
    assert before == driver()
    monkeypatch.setattr(key, "driver", lambda: driver(tmp_path))
    assert keyed() != plain


def test_the_driver_is_all_code_that_boots_and_asks(tmp_path: Path) -> None:
    (tmp_path / "inside" / "__pycache__").mkdir(parents=True)
    code = tmp_path / "inside" / "arms.py"
    code.write_text("ask()\n")
    before = driver(tmp_path)
    (tmp_path / "inside" / "__pycache__" / "arms.pyc").write_text("compiled")
    assert driver(tmp_path) == before
    code.write_text("ask(twice)\n")
    assert driver(tmp_path) != before
    code.rename(tmp_path / "arms.py")
    (tmp_path / "arms.py").write_text("ask()\n")
    assert driver(tmp_path) != before


def lay_proc(proc: Path, cpus: str, gpu: str = "") -> Path:
    """What the kernel tells of a CPU, for each of two cores, and of a GPU."""
    proc.mkdir()
    (proc / "cpuinfo").write_text(f"{cpus}\n{cpus.replace('2000.123', '1999.987')}")
    if gpu:
        place = proc / "driver" / "nvidia" / "gpus" / "0000:00:01.0"
        place.mkdir(parents=True)
        (place / "information").write_text(f"Model: \t\t {gpu}\nGPU UUID: \t GPU-1\n")
        (proc / "driver" / "nvidia" / "version").write_text("NVRM version: 600.1\n")
    return proc


def test_a_machine_is_its_cpu_its_cores_and_its_gpus(tmp_path: Path) -> None:
    plain = machine(lay_proc(tmp_path / "plain", INTEL))
    assert plain["cpus"] == ["flags\t\t: fpu avx2 avx512f", "model name\t: Some CPU @ 2.00GHz"]
    assert plain["cores"] == sorted(os.sched_getaffinity(0))
    less = machine(lay_proc(tmp_path / "less", INTEL.replace(" avx512f", "")))
    with_gpu = machine(lay_proc(tmp_path / "gpu", INTEL, "GB300"))
    assert with_gpu["gpus"] == ["Model: \t\t GB300"]
    assert with_gpu["driver"] == ["NVRM version: 600.1"]
    assert len({json.dumps(each) for each in (plain, less, with_gpu)}) == 3


def test_other_cores_are_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    first = machine(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 3})
    assert machine(tmp_path) != first


def test_how_fast_a_cpu_runs_is_no_part_of_it(tmp_path: Path) -> None:
    slow = machine(lay_proc(tmp_path / "slow", INTEL))
    fast = machine(lay_proc(tmp_path / "fast", INTEL.replace("2000.123", "3100.000")))
    assert slow == fast
    assert slow["cpus"]


def test_a_machine_that_tells_nothing_has_no_cpu(tmp_path: Path) -> None:
    assert machine(tmp_path)["cpus"] == []


def test_what_speed_depends_on_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    proc = lay_proc(tmp_path / "intel", f"cpu family\t: 6\n{INTEL}model\t\t: 143\n", "GB300")
    plain = "x86_64, Some CPU @ 2.00GHz, cpu family 6, model 143, 2 cores"
    assert hardware("cpu", proc) == plain
    assert hardware("cuda", proc) == f"{plain}, GB300"
    # A kernel's update, and a driver's, make no other machine of it.
    for file in (proc / "cpuinfo", proc / "driver" / "nvidia" / "version"):
        file.write_text(file.read_text().replace("avx512f", "").replace("600.1", "610.2"))
    assert hardware("cuda", proc) == f"{plain}, GB300"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    assert hardware("cpu", proc) == plain.replace("2 cores", "1 core")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    grace = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd4f\nFeatures\t: sve\n"
    assert hardware("cuda", lay_proc(tmp_path / "grace", grace, "NVIDIA  GB300")) == (
        "aarch64, CPU implementer 0x41, CPU part 0xd4f, 1 core, NVIDIA GB300"
    )
    assert hardware("cuda", tmp_path / "nothing") == "aarch64, 1 core"
