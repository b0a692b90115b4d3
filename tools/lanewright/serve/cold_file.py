"""The proof of cold rows in a file: they were read from the disk, and given back."""

from collections.abc import Mapping
from typing import Any

from lanewright.errors import MismatchError

ELSEWHERE = (
    "name a folder on a disk in EXPERT_BANK_FOLDER; of a file system whose reads the kernel does not"
    " count as this process's (read_bytes in /proc/self/io), nothing can be proven"
)


def require_file(who: str, banks: Mapping[str, Any], engine: Mapping[str, object]) -> None:
    """Go on where cold rows are where the lane has them; of a file's, each step read them anew.

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
    if file["in_memory"]:
        raise MismatchError(
            f"{who}: moe_cold_rows file proves nothing: {file['in_memory']} of {file['bytes']} bytes"
            f" of cold rows in {file['folder']} are in memory once they are given back",
            hint=ELSEWHERE,
        )
    if file["read"] < file["least"]:
        raise MismatchError(
            f"{who}: moe_cold_rows file proves nothing: {file['steps']} steps read {file['read']}"
            f" bytes from disks, and the cold rows that were picked have {file['least']}",
            hint=ELSEWHERE,
        )


def told_file(banks: Mapping[str, Any]) -> list[str]:
    """Tell what was read, in words; nothing where cold rows are in memory."""
    file = banks.get("file")
    if file is None:
        return []
    return [
        (
            f"{file['steps']} steps read {file['read']} bytes from disks, cold rows are a file's of"
            f" {file['bytes']} bytes, and {file['locked']} bytes are locked in memory"
        )
    ]
