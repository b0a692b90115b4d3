"""What a run that failed left behind, read with no trust in its files."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.serve.equality.leavings import Equality, Expected, Left, Record
from lanewright.serve.record import newest_records
from lanewright.terminal import quoted

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class FailedRun:
    """A run of a lane that ended with a mismatch.

    Attributes:
        lane: The lane's name.
        folder: Where its record lies.
        message: Why it failed.
        equality: What its comparison came to, if it came so far.
        told: All that its record is read for.
    """

    lane: str
    folder: Path
    message: str
    equality: Equality | None
    told: Record

    @property
    def record(self) -> Path:
        """File of its record."""
        return self.folder / "record.json"

    def unfit(self, file: Path, why: str) -> LanewrightError:
        """The error of a file that says nothing of the lane."""
        return unfit(file, why, self.lane)

    def expected(self, file: Path) -> Expected:
        """Read a baseline's answers.

        Raises:
            LanewrightError: It is not there, or damaged.
        """
        return _converted(_content(file, self.lane), Expected, file, self.lane)

    def left(self, file: Path) -> dict[str, Any] | None:
        """Read what an engine found; None where the run did not come so far.

        Raises:
            LanewrightError: It is damaged.
        """
        if not file.exists():
            return None
        whole: dict[str, Any] = _content(file, self.lane)
        _converted(whole, Left, file, self.lane)
        return whole


def newest_failed(places: Places, lock: Lock) -> FailedRun:
    """The newest run of the lane as its lock has it.

    Raises:
        LanewrightError: It has none, that did not fail for what its answers say, or its record is
            damaged.
    """
    for whole, folder in newest_records(places, lock.lane):
        file = folder / "record.json"
        if not isinstance(whole, dict):
            raise unfit(file, "it is damaged: it is no object", lock.lane)
        if whole.get("tree") != lock.tree:
            continue
        record = _converted(whole, Record, file, lock.lane)
        if record.error and record.error.exit_code == ExitCode.MISMATCH:
            return FailedRun(
                lane=lock.lane,
                folder=folder,
                message=record.error.message,
                equality=record.equality,
                told=record,
            )
        break
    raise LanewrightError(
        f"lane {lock.lane}: its newest run of tree {lock.tree[:12]} has no answer that differs, and"
        " no proof that failed",
        hint=f"lanewright equal {quoted(lock.lane)}",
    )


def unfit(file: Path, why: str, lane: str) -> LanewrightError:
    """The error of a file that says nothing of a lane; a run anew writes others."""
    return LanewrightError(f"{file}: {why}", hint=f"lanewright equal {quoted(lane)}")


def _content(file: Path, lane: str) -> Any:  # noqa: ANN401 - nothing is known of it yet
    try:
        if file.exists() and not file.is_file():
            raise OSError("it is no file")  # noqa: TRY301 - told as all else is
        return json.loads(file.read_bytes())
    except OSError as error:
        raise unfit(file, f"it cannot be read: {error.strerror or error}", lane) from error
    except (ValueError, RecursionError) as error:
        raise unfit(file, f"it is damaged: {error}", lane) from error


def _converted(whole: object, kind: type[T], file: Path, lane: str) -> T:
    try:
        return msgspec.convert(whole, kind)
    except msgspec.ValidationError as error:
        raise unfit(file, f"it is damaged: {error}", lane) from error
