"""A lane's Python in a container: what it is given, and that nothing of it stays.

The program in podman's place notes what it was asked, and runs the command where it is.
"""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lanewright.image.container.boxed import patience
from lanewright.image.container.engine import Engine
from lanewright.image.container.image_env import ImageEnv
from lanewright.queue.series_run import RunSpec
from lanewright.serve.caches import Caches
from lanewright.serve.child import BootError, watch
from lanewright.serve.engines import Arm, starting
from lanewright.serve.environment import STEP_SECONDS
from lanewright.serve.equality.key import Side, key_of

PACKAGES = Path("/usr/lib/site-packages")
# Runs `run ... IMAGE SCRIPT ARGUMENTS` by this Python.
PROGRAM = f"""\
#!{sys.executable}
import json, os, sys
with open({{notes!r}}, "a") as notes:
    notes.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "run":
    words = sys.argv[sys.argv.index("its/image") + 1:]
    os.execv({sys.executable!r}, [{sys.executable!r}, *words])
"""


# What a container may hear of its machine.
MORE: list[dict[str, Any]] = [
    {"devices": ["/dev/kfd"]},
    {"ipc": "host"},
    {"ulimits": ["memlock=-1"]},
    {"cap_add": ["SYS_NICE"]},
    {"volumes": {"/root/.cache": "lane-cache"}},
]


@pytest.fixture
def env(tmp_path: Path) -> ImageEnv:
    program = tmp_path / "podman"
    program.write_text(PROGRAM.format(notes=str(tmp_path / "notes")))
    program.chmod(0o755)
    return ImageEnv(
        python=Path("python3"),
        site=tmp_path / "site",
        bytecode=tmp_path / "pyc",
        engine=Engine("docker", str(program)),
        image="its/image",
        image_id="sha256:1",
        packages=PACKAGES,
        version="1.1+lane.sample.0123abcd",
        run=RunSpec(environment={"HOME": "/root", "HF_HUB_OFFLINE": "0"}),
    )


def ran(env: ImageEnv, tmp_path: Path, script: str) -> tuple[int | None, list[list[str]]]:
    """Run a script; its exit status, and what the engine was asked."""
    scripts, folder, model = tmp_path / "scripts", tmp_path / "run", tmp_path / "model"
    for each in (scripts, folder, model):
        each.mkdir()
    (scripts / "it.py").write_text(script)
    words, log = [str(scripts / "it.py"), "one", "two"], folder / "it.log"
    with env.running("it", words, environ={"A": "b"}, log=log, reads=[model]) as running:
        status = watch(running, seconds=20)
    return status, [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]


def test_what_a_container_has(env: ImageEnv, tmp_path: Path) -> None:
    script = 'import sys; print("said", *sys.argv[1:])'
    status, (run, removed) = ran(env, tmp_path, script)
    assert status == 0
    assert (tmp_path / "run" / "it.log").read_text() == "said one two\n"
    folder = tmp_path / "run"
    assert f"--volume={folder}:{folder}:rw" in run
    for read in ("scripts", "model"):
        assert f"--volume={tmp_path / read}:{tmp_path / read}:ro" in run
    assert f"--workdir={folder}" in run
    assert {"--network=none", "--read-only", "--cap-drop=all", "--entrypoint=python3"} <= {*run}
    # The series' variables, and not where they would open what a boot shuts.
    assert {"--env=HOME=/root", "--env=A=b"} <= {*run}
    assert run.index("--env=HF_HUB_OFFLINE=1") > run.index("--env=HF_HUB_OFFLINE=0")
    name = next(word for word in run if word.startswith("--name=")).removeprefix("--name=")
    assert removed == ["rm", "--force", "--volumes", name]


def test_what_it_compiles_outlives_it(env: ImageEnv, tmp_path: Path) -> None:
    """Where it is outside; a place that the lane names stays the lane's."""
    shared, own = tmp_path / "kept/shared", tmp_path / "kept/own"
    named = {**env.run.environment, "TRITON_CACHE_DIR": "/root/.triton"}
    env = dataclasses.replace(
        env, kept=Caches(shared, own), run=RunSpec(environment=named, volumes={"/root": "lanes"})
    )
    for folder in env.kept.folders if env.kept else ():
        folder.mkdir(parents=True)
    status, (run, _) = ran(env, tmp_path, "import os; print(os.environ['HOME'])")
    assert status == 0
    assert {f"--volume={each}:{each}:rw" for each in (shared, own)} <= {*run}
    told = dict(
        word.removeprefix("--env=").split("=", 1) for word in run if word.startswith("--env=")
    )
    assert told["VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR"] == f"{shared}/tactics"
    assert told["FLASHINFER_WORKSPACE_BASE"] == f"{shared}/flashinfer"
    assert told["VLLM_CACHE_ROOT"] == f"{own}/vllm"
    assert told["TRITON_CACHE_DIR"] == "/root/.triton"
    assert "--volume=lanes:/root" in run
    assert env.environ() | {"A": "b"} == told


def test_an_engine_has_its_model_and_a_boot_map_that_lies_elsewhere(
    env: ImageEnv, tmp_path: Path
) -> None:
    """Its own run's folder is there anyway, with maps that another arm made."""
    folder, model, usage = tmp_path / "run", tmp_path / "model", tmp_path / "usage.json"
    folder.mkdir()
    made = str(folder / "eager.usage.json")
    arms = [
        Arm(name=name, engine={"moe_boot_map": file}, prompts=["A"], max_tokens=1)
        for name, file in (("mapped", str(usage)), ("made", made), ("first", "first"))
    ]
    # There is no vLLM in this Python.
    with pytest.raises(BootError), starting(env, model, arms, folder, name="lane") as running:
        running.wait()
    run, *_ = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    mounts = [word.removeprefix("--volume=").split(":")[0] for word in run if "--volume=" in word]
    assert {str(model), str(usage), str(folder)} <= {*mounts}
    assert made not in mounts


def test_it_is_removed_where_it_fails(env: ImageEnv, tmp_path: Path) -> None:
    status, asked = ran(env, tmp_path, "import sys; sys.exit(3)")
    assert status == 3
    assert [words[0] for words in asked] == ["run", "rm"]


def test_pin_and_lane_are_told_apart_by_version(env: ImageEnv) -> None:
    """They lie in one place: a pin that ran in the lane's image would be equal to it in all."""
    file, lanes, pins = str(PACKAGES / "vllm/__init__.py"), env.version, "1.1"
    pin = dataclasses.replace(env, version="")
    assert (env.holds(file, lanes), pin.holds(file, pins)) == (True, True)
    assert (env.holds(file, pins), pin.holds(file, lanes)) == (False, False)
    assert not env.holds(str(env.site / "vllm/__init__.py"), lanes)


def test_it_tells_what_it_stands_on(env: ImageEnv) -> None:
    assert env.base == "sha256:1"
    assert env.environ()["HF_HUB_OFFLINE"] == "1"


@pytest.mark.parametrize(
    "run",
    [
        RunSpec(environment={"HOME": "/root", "HF_HUB_OFFLINE": "1"}),
        RunSpec(environment={"HOME": "/root", "HF_HUB_OFFLINE": "0", "OMP_WAIT_POLICY": "active"}),
        *(RunSpec(environment={"HOME": "/root", "HF_HUB_OFFLINE": "0"}, **more) for more in MORE),
    ],
)
def test_another_variable_device_or_right_is_another_run(env: ImageEnv, run: RunSpec) -> None:
    arm = Arm(name="eager", engine={}, prompts=("A",), max_tokens=8)

    def keyed(env: ImageEnv) -> str:
        side = Side(name="lane", env=env, tree="1" * 40, arms=[arm])
        return key_of(side, arm, model="2" * 64, environ={})

    assert keyed(dataclasses.replace(env, run=run)) != keyed(env)
    # Neither the server's port nor how long it may load is heard by an engine.
    same = msgspec.structs.replace(env.run, port=9000, health_start="1h")
    assert keyed(dataclasses.replace(env, run=same)) == keyed(env)


@pytest.mark.parametrize(
    ("said", "seconds"), [("10m", STEP_SECONDS), ("30m", 1800.0), ("2h", 7200.0)]
)
def test_a_large_model_may_load_for_as_long_as_is_said(said: str, seconds: float) -> None:
    assert patience(RunSpec(health_start=said)) == seconds
