"""A note that is damaged or forged is not taken, and stands in no run's way."""

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.engines import Arm
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality import note as notes
from lanewright.serve.equality.earlier import Arms
from lanewright.serve.equality.key import Side
from tests.serve.equality.fresh import TREE, fresh

NOTE, RESULT = "lane.eager.off.finished.json", "lane.eager.off.json"
ANSWER: dict[str, Any] = {"prompt": "A", "prompt_tokens": 1, "cached_tokens": 0, "text": "a"}
ANSWER |= {"ids": [1], "bits": [0], "likeliest": [[[1, 0], [2, 0]]]}
SECONDS = 3


def waited(number: int, _: object) -> None:
    # An OSError would be taken for a file that cannot be read.
    raise AssertionError(f"waited until signal {number}")


@pytest.fixture(autouse=True)
def no_wait() -> Iterator[None]:
    """End a test that waits for the other end of a pipe."""
    before = signal.signal(signal.SIGALRM, waited)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Earlier:
    """A run that has finished one arm, and the arms of the next one."""

    def __init__(self, folder: Path, *, resume: bool) -> None:
        env = LaneEnv(folder / "python", folder / "site", folder / "pyc")
        self.arm = Arm(name="eager.off", engine={}, prompts=("A",), max_tokens=1)
        side = Side(name="lane", env=env, tree=TREE, arms=[self.arm])
        how = fresh(folder, asked=resume)
        self.folder = how.runs / "0" / "equality"
        self.next = how.runs / "1" / "equality"
        for each in (self.folder, self.next):
            each.mkdir(parents=True)
        self.arms = Arms.of(how, self.next, [side], {})
        self.result(json.dumps(self.found(folder)))
        self.note(key=self.arms.notes(side)[self.arm.name]["key"])

    def found(self, folder: Path) -> dict[str, Any]:
        """What the arm found, as ``inside/arms.py`` writes it."""
        told: dict[str, Any] = {name: [] for name in ("status", "usage", "banks", "moe")}
        file = folder / "site" / "vllm" / "__init__.py"
        whole = {"vllm_file": str(file), "compiled": False, "completions": [ANSWER]}
        before = {"tokens": 0, "banks": []}
        return {**whole, **told, "together": {}, "exchange": None, "earlier": before}

    def result(self, text: str) -> None:
        (self.folder / RESULT).write_text(text)

    def note(self, **changed: object) -> None:
        """Write the note, with the digest of the result as it is."""
        digest = hashlib.sha256((self.folder / RESULT).read_bytes()).hexdigest()
        noted: dict[str, Any] = {"run": "0", "finished": "2026-12-01T00:00:00Z", "boot_map": None}
        noted |= {"files": {RESULT: digest}}
        if (self.folder / NOTE).exists():
            noted = json.loads((self.folder / NOTE).read_text())
        (self.folder / NOTE).write_text(json.dumps(noted | changed))

    def names(self, name: str, digest: str = "0" * 64) -> None:
        """Have the note name one more file."""
        noted = json.loads((self.folder / NOTE).read_text())
        self.note(files={name: digest, **noted["files"]})


def told(**changed: object) -> Callable[[Earlier], None]:
    """Change the result, and note it as it is then."""

    def change(earlier: Earlier) -> None:
        whole = json.loads((earlier.folder / RESULT).read_text())
        rewritten(json.dumps(whole | changed))(earlier)

    return change


def rewritten(text: str) -> Callable[[Earlier], None]:
    def rewrite(earlier: Earlier) -> None:
        earlier.result(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        earlier.note(files={RESULT: digest})

    return rewrite


def piped(file: Path) -> None:
    file.unlink(missing_ok=True)
    os.mkfifo(file)


def linked(file: Path) -> None:
    file.rename(file.parent / "elsewhere")
    file.symlink_to("elsewhere")


def escaped(earlier: Earlier) -> None:
    piped(earlier.folder / ".." / "pipe")
    earlier.names("../pipe")


def beside(earlier: Earlier) -> None:
    (earlier.folder / "record.json").write_text("{}")
    earlier.names("record.json", hashlib.sha256(b"{}").hexdigest())


def deep(earlier: Earlier) -> None:
    text = (earlier.folder / NOTE).read_text().removesuffix("}")
    (earlier.folder / NOTE).write_text(f'{text}, "z": {"[" * 20000}{"]" * 20000}}}')


def not_text(earlier: Earlier) -> None:
    file = earlier.folder / NOTE
    file.write_bytes(file.read_bytes().replace(b'"run": "0', b'"run": "\xff'))


def folder_for_a_note(earlier: Earlier) -> None:
    (earlier.folder / NOTE).unlink()
    (earlier.folder / NOTE).mkdir()


BAD: dict[str, Callable[[Earlier], object]] = {
    "a pipe for a note": lambda earlier: piped(earlier.folder / NOTE),
    "a pipe for a result": lambda earlier: piped(earlier.folder / RESULT),
    "a link for a note": lambda earlier: linked(earlier.folder / NOTE),
    "a link for a result": lambda earlier: linked(earlier.folder / RESULT),
    "a folder for a note": folder_for_a_note,
    "a file outside": escaped,
    "a file of another's": beside,
    "a name that is none": lambda earlier: earlier.names("a\0b"),
    "a name too long": lambda earlier: earlier.names("x" * 5000),
    "a deep note": deep,
    "a note that is no text": not_text,
    "a run that steers a terminal": lambda earlier: earlier.note(run="\x1b[2J0"),
    "a run of two lines": lambda earlier: earlier.note(run="0\nlane sample: passed"),
    "a note too large": lambda earlier: earlier.note(more="x" * 2**16),
    "a result that is cut": rewritten('{"vllm_file": "/site/vllm/__init__.py", "compi'),
    "a deep result": rewritten("[" * 20000 + "]" * 20000),
    "a result that is no object": rewritten("[]"),
    "a result without answers": told(completions=None),
    "a result of another tree": told(vllm_file="/elsewhere/vllm/__init__.py"),
    "answers to another prompt": told(completions=[ANSWER | {"prompt": "B"}]),
    "no answers": told(completions=[]),
    "answers together that were not asked": told(together={"2": [ANSWER]}),
    "rows exchanged that were not asked": told(exchange={"layer": "", "completions": [ANSWER]}),
    "bits that are none": told(completions=[ANSWER | {"bits": [2**32]}]),
    "fewer bits than tokens": told(completions=[ANSWER | {"ids": [1, 2]}]),
}


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("what", BAD)
def test_what_is_bad_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, *, resume: bool
) -> None:
    earlier = Earlier(tmp_path, resume=resume)
    BAD[what](earlier)
    assert earlier.arms.take() == {}
    assert [*earlier.next.iterdir()] == []
    assert ("nothing to resume" if resume else "") == capsys.readouterr().err[:17]


def test_what_is_good_is_taken(tmp_path: Path) -> None:
    earlier = Earlier(tmp_path, resume=True)
    assert [*earlier.arms.take()] == ["eager.off"]
    assert {each.name for each in earlier.next.iterdir()} == {NOTE, RESULT}


def test_a_result_that_is_too_large_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = Earlier(tmp_path, resume=True)
    size = (earlier.folder / RESULT).stat().st_size
    monkeypatch.setattr(notes, "FILE_MOST", size - 1)
    assert earlier.arms.take() == {}
    monkeypatch.setattr(notes, "FILE_MOST", size)
    assert [*earlier.arms.take()] == ["eager.off"]


def test_a_pipe_for_a_boot_map_is_no_map(tmp_path: Path) -> None:
    piped(tmp_path / "pipe")
    assert notes.boot_map_digest(str(tmp_path / "pipe")) is None
