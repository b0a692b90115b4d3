"""Git LFS pointers: a few lines that stand for a content which is in no git object."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from lanewright.queue.lock import HunkState
from lanewright.store.write import Content

POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid (sha256:[0-9a-f]{64})\nsize ([0-9]{1,20})\n"
)


def with_pointers(
    states: Iterable[HunkState], taken: Mapping[str, Content | None]
) -> list[HunkState]:
    """Say of each carried hunk of a pointer that the object which it names is missing.

    Args:
        states: What became of an entry's hunks.
        taken: The entry's files with the chosen hunks in place.
    """
    told = {path: why for path, each in taken.items() if each and (why := _missing(each.raw))}
    return [
        msgspec.structs.replace(
            state, cause="; ".join(filter(None, [told[state.path], state.cause]))
        )
        if state.path in told and state.outcome != "not selected"
        else state
        for state in states
    ]


def _missing(content: bytes) -> str:
    found = POINTER.fullmatch(content)
    if not found:
        return ""
    size = int(found[2])
    return f"a Git LFS pointer: its object {found[1].decode()} ({size} bytes) is not in the store"
