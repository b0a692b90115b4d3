"""The proof of the seams: whose code served the banks' rows, and that it was entered."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lanewright.errors import LanewrightError, MismatchError
from lanewright.queue.series import Series
from lanewright.queue.use.seams import BANK_SEAMS, OWN, SEAMS_FILE
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from lanewright.serve.features import BANKS

TABLE, COPY, _ = BANK_SEAMS


def require_seams(env: LaneEnv, evidence: Evidence, where: str) -> None:
    """Prove that every worker was served by what the lane's tree names, and by its work.

    Workers leave their own checks out of what they count: a code that only a check enters serves
    nothing. Loading writes each layer's entries and looks at the cold rows; a swap writes entries; a
    row is copied only where one moved, so that a lane that swapped nothing proves no copy.

    Args:
        env: The lane; two banks are on.
        evidence: What the boot left behind.
        where: Which boot this was, for messages.

    Raises:
        MismatchError: Another source served a seam, or it was entered less than what it did takes.
    """
    named = named_seams(env)
    for worker, banks in zip(evidence.status, evidence.banks, strict=True):
        told = (banks or {}).get("seams", {})
        who = f"{where}: {BANKS}: worker {worker['pid']}"
        for seam in sorted({*named, *told}):
            source, found = named.get(seam, OWN), told.get(seam, {})
            if found.get("from") != source:
                raise MismatchError(
                    f"{who}: the lane names {_of(source)} at {seam}, and"
                    f" {_of(found.get('from', 'nothing'))} served it"
                )
            least, work = _least(seam, banks or {})
            if (calls := found["calls"]) < least:
                entered = f"entered {calls} times" if calls else "never entered"
                raise MismatchError(
                    f"{who}: the lane names {_of(source)} at {seam}, and its code was {entered};"
                    f" {work} take {least}",
                    hint=f"name {OWN!r} at {seam}, or see why nothing came that way",
                )


def _least(seam: str, banks: Mapping[str, Any]) -> tuple[int, str]:
    """Tell how often a seam's code is entered at least, and for what."""
    if seam == TABLE:
        layers, swaps = len(banks["hot_rows"]), banks["swaps"]
        return layers + swaps, f"the entries of {layers} layers and {swaps} swaps"
    if seam == COPY:
        moved = banks["bytes"]
        return -(-moved // max(banks["row_bytes"])), f"{moved} bytes of rows that moved"
    return 1, "the cold rows"


def named_seams(env: LaneEnv) -> dict[str, str]:
    """Read which pull request the lane's tree names at each seam of the two banks.

    Raises:
        MismatchError: The tree's file is not one that this lanewright knows.
    """
    file = env.site / SEAMS_FILE
    try:
        found = dict(json.loads(file.read_bytes()))
        return {seam: str(found[seam]["from"]) for seam in BANK_SEAMS if seam in found}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise MismatchError(f"{file} names no pull requests at seams: {error}") from error


def told_seams(banks: Mapping[str, Any]) -> Iterator[str]:
    """Yield for people whose code served each seam, and how often."""
    for seam, found in banks.get("seams", {}).items():
        calls = found["calls"]
        done = f"entered {calls} times" if calls else "not asked to copy"
        yield f"{seam} {_of(found['from'])}, {done}"


def require_switched(series: Series, place: str) -> None:
    """See that what the seams name can be entered at all.

    Raises:
        LanewrightError: They name a pull request at a seam of the two banks, which are off.
    """
    named = [seam for seam in BANK_SEAMS if series.seams.get(seam, OWN) != OWN]
    if named and not series.engine.get(BANKS):
        raise LanewrightError(
            f"{place}: {', '.join(named)}: nothing enters what is named while {BANKS} is off",
            hint=f"set {BANKS} in [engine], or take the seams out",
        )


def _of(source: str) -> str:
    return f"#{source}" if source.isdecimal() else source
