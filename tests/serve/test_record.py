import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.serve.record import SCHEMA_FILE, make_run_folder, read_latest, write_record

TREE = "0123456789abcdef0123456789abcdef01234567"
START = datetime(2026, 11, 29, 23, 45, tzinfo=UTC)


@pytest.fixture
def record() -> dict[str, Any]:
    """A run that failed before anything booted."""
    return {
        "schema": 1,
        "lane": "sample",
        "folder": "/runs/sample",
        "started": "2026-11-29T23:45:00Z",
        "finished": "2026-11-29T23:46:00Z",
        "lanewright": "0.1.0",
        "lock": "0" * 64,
        "pin": {"ref": "release:1.1", "commit": TREE, "tree": TREE, "version": "1.1"},
        "tree": TREE,
        "layer": None,
        "entries": [{"name": "hook", "kind": "patch", "source": "own/hook.patch", "more": 1}],
        "engine": {"max_model_len": 256},
        "environment": {
            "base": "cp311",
            "machine": "x86_64",
            "python": None,
            "torch": None,
            "vllm": None,
        },
        "shims": [],
        "model": None,
        "boots": {"offline": None, "server": None},
        "agree": None,
        "usage": None,
        "equality": None,
        "verdict": "failed",
        "error": {"message": "no room", "exit_code": 1},
    }


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text()))


def test_a_record_comes_back_as_written(places: Places, record: dict[str, Any]) -> None:
    folder = make_run_folder(places, "sample", TREE, START)
    assert folder == places.state / "runs" / "sample" / "20261129T234500Z-01234567"
    assert write_record(folder, record) == folder / "record.json"
    assert read_latest(places, "sample") == record
    assert [path.name for path in folder.iterdir()] == ["record.json"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("verdict", "perhaps"),
        ("verdict", "passed"),
        ("error", None),
        ("tree", "short"),
        ("started", "yesterday"),
        ("surprise", 1),
        ("entries", [{"name": "hook"}]),
        ("boots", {"offline": {}, "server": None}),
        ("usage", 1),
        ("equality", {}),
        ("layer", {"digest": "sha256:0", "size": 2048, "site_packages": "/opt"}),
    ],
)
def test_a_record_that_is_none_is_not_written(
    tmp_path: Path, record: dict[str, Any], key: str, value: object
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        write_record(tmp_path, {**record, key: value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["usage", "equality", "boots", "layer", "lock"])
def test_a_record_without_a_field_is_none(tmp_path: Path, record: dict[str, Any], key: str) -> None:
    del record[key]
    with pytest.raises(jsonschema.ValidationError, match=key):
        write_record(tmp_path, record)


def test_a_failed_write_keeps_the_old_record(
    tmp_path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_record(tmp_path, record)
    before = file.read_bytes()

    def full(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(LanewrightError, match="No space left"):
        write_record(tmp_path, {**record, "lane": "other"})
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


def test_runs_of_one_second_are_kept_apart(places: Places) -> None:
    names = {make_run_folder(places, "sample", TREE, START).name for _ in range(12)}
    assert len(names) == 12


def test_the_newest_is_read(places: Places, record: dict[str, Any]) -> None:
    for minute, trees in ((1, ("f" * 40, "0" * 40)), (0, ("a" * 40,))):
        for tree in trees:
            folder = make_run_folder(places, "sample", tree, START + timedelta(minutes=minute))
            write_record(folder, {**record, "tree": tree})
    make_run_folder(places, "sample", TREE, START + timedelta(minutes=2))
    latest = read_latest(places, "sample")
    assert latest is not None
    assert latest["tree"] == "0" * 40


def test_no_record_yet(places: Places) -> None:
    assert read_latest(places, "sample") is None


def test_a_damaged_record_is_named(places: Places) -> None:
    file = make_run_folder(places, "sample", TREE, START) / "record.json"
    file.write_text("{")
    with pytest.raises(LanewrightError, match=str(file)):
        read_latest(places, "sample")


def test_a_state_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(LanewrightError, match="cannot keep a record") as caught:
        make_run_folder(Places(tmp_path, tmp_path / "state"), "sample", TREE, START)
    assert caught.value.hint is not None
    assert "LANEWRIGHT_STATE" in caught.value.hint
