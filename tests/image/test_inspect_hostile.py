"""Labels and documents that somebody made to mislead or to break who reads them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.image import onto, tamper
from tests.image.inspecting import Labels, alone, configuration, image, labels

__all__ = ["image"]
Capture = pytest.CaptureFixture[str]
ENTRIES = "dev.lanewright.entries"


def entry(**more: object) -> str:
    return json.dumps([{"name": "a", "kind": "patch", "digest": "0" * 64, **more}])


HOSTILE: dict[str, tuple[Labels, str]] = {
    "broken JSON": ({ENTRIES: "[{"}, "its label dev.lanewright.entries cannot be read"),
    "deep JSON": ({ENTRIES: "[" * 100_000}, "its label dev.lanewright.entries cannot be read"),
    "other JSON": ({ENTRIES: '{"a": 1}'}, "its label dev.lanewright.entries cannot be read"),
    "huge": ({ENTRIES: entry(head="a" * 2**20)}, "has 1048"),
    "huge elsewhere": ({"dev.lanewright.series": "a" * 2**21}, "has 2097152 characters"),
    "a long line": ({"dev.lanewright.lane": "a" * 1000}, "$.dev.lanewright.lane"),
    "a control character": ({"dev.lanewright.pin": "\x1b[2J"}, "$.dev.lanewright.pin"),
    "two lines": ({"dev.lanewright.lane": "a\n  base sha256:0"}, "$.dev.lanewright.lane"),
    "two lines in an entry": ({ENTRIES: entry(name="a\nb")}, r"has a control character: 'a\\nb'"),
    "in a key": ({ENTRIES: entry(left={"\x1b": 1})}, "has a control character"),
    "a number of any size": ({ENTRIES: entry(pull=10**40)}, "has a number out of all bounds"),
    "no digest": ({"dev.lanewright.tree": "abc"}, "$.dev.lanewright.tree"),
    "no text": ({"dev.lanewright.tree": 1}, "its configuration cannot be read"),
    "no base's digest": ({"org.opencontainers.image.base.digest": "../x"}, "base.digest"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_labels(
    image: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    said, told = HOSTILE[case]
    labels(image, lambda found: found.update(said))
    capfd.readouterr()
    assert alone(image, monkeypatch) == 1
    captured = capfd.readouterr()
    assert told in captured.err
    assert not captured.out
    assert len(captured.err) < 1000
    assert "\x1b" not in captured.err


CONFIGURATIONS: dict[str, Callable[[Any], object]] = {
    "labels that are a list": lambda config: config["config"].update(Labels=["a"]),
    "nothing to run": lambda config: config.update(config="a"),
    "a time that is none": lambda config: config.update(created=5),
}


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_hostile_configurations(
    image: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    configuration(image, CONFIGURATIONS[case])
    assert alone(image, monkeypatch) == 1
    assert "its configuration cannot be read" in capfd.readouterr().err


def test_a_label_that_is_gone(image: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    labels(image, lambda found: found.pop("dev.lanewright.tree"))
    assert alone(image, monkeypatch) == 1
    assert "missing required field `dev.lanewright.tree`" in capfd.readouterr().err


def test_a_document_that_was_edited(
    image: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tamper.blob(image, onto.manifest_of(image)["config"])
    config.write_bytes(config.read_bytes().replace(b"release:1.1", b"release:1.0"))
    assert alone(image, monkeypatch) == 1
    assert "is not what its name says: it is damaged" in capfd.readouterr().err


def test_labels_of_a_layer_that_is_not_there(
    image: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels(image, lambda found: found.update({"dev.lanewright.layer": f"sha256:{'a' * 64}"}))
    assert alone(image, monkeypatch) == 0
    assert f"tell of a layer sha256:{'a' * 64}, and it has none such" in capfd.readouterr().err
