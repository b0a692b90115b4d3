"""A lane that runs in its image alone, on a model as it comes from a hub: lanes on a GPU are so."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lanewright.image.opened.image import open_image
from lanewright.places import Places
from lanewright.serve.model import content_hash
from lanewright.serve.named_files import named_hash
from tests.engine.conftest import Lane, copied
from tests.engine.imaged import done, lanewright, require_tools, state
from tests.image.programs import output

__all__ = ["state"]
NAME = "somebody/tiny"
# The guard's grace, and what podman takes to remove one.
GONE = 30.0
SHORT = """
[equality]
prompts = 4
tokens = 16
distinct = 8
modes = ["eager"]
baseline = {max_num_batched_tokens = 256}
"""


@pytest.fixture(scope="module")
def named(state: Path, tmp_path_factory: pytest.TempPathFactory) -> Lane:
    """The lane on its generated model, which lies where Hugging Face keeps what was downloaded."""
    require_tools()
    assert state.is_dir()
    lane = copied(tmp_path_factory.mktemp("named") / "project")
    text = lane.series.read_text()
    lane.series.write_text(text.replace('recipe = "qwen3-moe-tiny"', f'name = "{NAME}"') + SHORT)
    done("build", lane.name, root=lane.root)
    done("image", "base", lane.name, root=lane.root)
    done("image", lane.name, root=lane.root)
    return lane


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Links to blobs, as the hub's own library lays a revision."""
    (made,) = [each for each in Places.of_user().models.glob("qwen3-moe-tiny-*") if each.is_dir()][
        :1
    ]
    root = tmp_path / "models--somebody--tiny"
    folder = root / "snapshots" / "0123abcd"
    (root / "blobs").mkdir(parents=True)
    folder.mkdir(parents=True)
    for file in made.iterdir():
        blob = root / "blobs" / file.name
        blob.write_bytes(file.read_bytes())
        (folder / file.name).symlink_to(Path("../../blobs", file.name))
    assert content_hash(folder) == content_hash(made)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return folder


@pytest.mark.image
def test_it_boots_in_its_image(named: Lane, model: Path, state: Path) -> None:
    ended = lanewright("boot", "--in-image", named.name, root=named.root)
    assert ended.returncode == 0, ended.stderr
    told = ended.stdout
    assert "lane cpu-tiny: passed" in told
    assert "its server is for `lanewright image smoke cpu-tiny` to boot" in ended.stderr
    assert "it ran in containers of that" in told
    assert "proof of moe_usage_counter" in told
    (record,) = [json.loads(file.read_text()) for file in state.glob("runs/cpu-tiny/*/record.json")]
    hashes = {"hash": named_hash(model), "content": named_hash(model, times=True)}
    assert record["model"] == {"recipe": None, "name": NAME, **hashes}
    folder = Path(json.loads(done("image", named.name, "--json", root=named.root))["folder"])
    assert record["environment"]["base"] == open_image(folder, None).config_blob.digest
    assert record["boots"]["server"] is None
    assert record["boots"]["offline"]["vllm_file"].startswith("/usr/local/lib/python3.11/")


@pytest.mark.image
def test_without_the_model_nothing_is_run(
    named: Lane, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    before = list(state.glob("runs/cpu-tiny/*"))
    ended = lanewright("boot", "--in-image", named.name, root=named.root)
    assert ended.returncode == 1
    assert f"there is no {NAME} in {tmp_path}" in ended.stderr
    assert list(state.glob("runs/cpu-tiny/*")) == before


@pytest.mark.image
def test_a_killed_run_leaves_no_container(named: Lane, model: Path) -> None:
    """Its own process cannot clear up: on a GPU, what stayed would hold all of its memory."""
    assert model.is_dir()
    command = [sys.executable, "-m", "lanewright", "-C", str(named.root)]
    command += ["boot", "--in-image", named.name]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr
        assert any("arm boot: starts" in line for line in running.stderr)
        assert len(ours(running.pid)) == 1
        running.kill()
    deadline = time.monotonic() + GONE
    while ours(running.pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert ours(running.pid) == []


def ours(process: int) -> list[str]:
    """Containers of a process, ended ones too."""
    names = output("podman", "ps", "--all", "--format={{.Names}}").split()
    return [name for name in names if name.endswith(f"-{process}")]


@pytest.mark.engine_full
def test_it_answers_as_its_base_does(named: Lane, model: Path) -> None:
    """The base is the unpatched pin; then the image's own server, and its answers."""
    assert model.is_dir()
    told = done("equal", "--in-image", named.name, root=named.root)
    assert "equality equal" in told
    for row in ("self: 4/4 equal", "exchanged: 0/4 equal", "off: 4/4 equal", "on: 4/4 equal"):
        assert f"  {row}" in told
    smoke = json.loads(done("image", "smoke", named.name, "--json", root=named.root))
    assert smoke["answers"] == 4
    assert smoke["whose"] == "the unpatched pin's (eager)"
