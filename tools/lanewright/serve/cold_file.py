"""The proof of cold rows in a file: they were read from the disk, and given back."""

from collections.abc import Mapping
from typing import Any

from lanewright.errors import MismatchError

ELSEWHERE = (
    "name a folder on a disk in EXPERT_BANK_FOLDER; of a file system whose reads the kernel does not"
    " count as this process's (read_bytes in /proc/self/io), nothing can be proven"
)


def require_file(who: str, banks: Mapping[str, Any], engine: Mapping[str, object]) -> None:
    """Go on where cold rows are where the lane has them; of a file's, each step read its own anew.

    Raises:
        MismatchError: They are not, or coldness cost nothing.
    """
    asked, file = engine.get("moe_cold_rows") == "file", banks.get("file")
    if asked != (file is not None):
        raise MismatchError(
            f"{who} has its cold rows in {'memory' if asked else 'a file'}, and moe_cold_rows"
            f" {engine.get('moe_cold_rows', 'mirror')} was asked for"
        )
    if file is None:
        return
    nothing = f"{who}: moe_cold_rows file proves nothing: "
    if file["steps"] != banks["forwards"]:
        raise MismatchError(
            f"{nothing}rows were given back behind {file['steps']} steps of {banks['forwards']}"
        )
    if file["kept"]:
        raise MismatchError(
            f"{nothing}behind a step {file['kept']} bytes of its cold rows in {file['folder']}"
            " were still in memory",
            hint=ELSEWHERE,
        )
    if file["least"] < file["once"]:
        raise MismatchError(
            f"{nothing}steps asked for {file['least']} bytes of cold rows, and those that were picked"
            f" have {file['once']}, were each read but once"
        )
    if file["read"] < file["least"]:
        raise MismatchError(
            f"{nothing}{file['steps']} steps read {file['read']} bytes from disks, and the cold rows"
            f" that each step picked have {file['least']} in all",
            hint=ELSEWHERE,
        )


def told_file(banks: Mapping[str, Any]) -> list[str]:
    """Tell what was read, in words; nothing where cold rows are in memory."""
    file = banks.get("file")
    if file is None:
        return []
    return [
        (
            f"{file['steps']} steps read {file['read']} bytes from disks, {file['least']} of them for"
            f" the cold rows that each picked, of a file's {file['bytes']} bytes, and"
            f" {file['locked']} bytes are locked in memory"
        )
    ]
