"""``patches/<number>/pr.toml``: what is known of a pull request, and where each fact is from."""

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.use.seams import Seam
from lanewright.tomlfile import load

OWN_KEYS = frozenset({"number", "adapter", "tests", "sources"})
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d(-\d\d)?\Z")]
CommitText = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[seen]]``: what became of it on a pin, as somebody found it.

    Attributes:
        on: The day.
        pin: Upstream's commit that it was tried on.
        outcome: In the words of who tried it.
    """

    on: date
    pin: CommitText
    outcome: str


class PrFile(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True
):
    """What is known of a pull request; what is not known is left out.

    Attributes:
        number: Its number, which is its folder's name too.
        brings: What it is, in one line.
        worth: Whether it is worth carrying, in one line.
        author: Who opened it.
        opened: The day or the month in which that was.
        state: As it was seen: ``open``, ``draft`` and the like.
        state_seen: The day on which it was in that state.
        base: The commit that it is a change of.
        rfc: Number of the proposal that it belongs to.
        files: Paths that it is known to touch; there may be more.
        provides: The seams at which it can plug in.
        adapter: Number of the pull request whose adapter in our overlay fits it, where that is not
            its own.
        claims: What it takes for itself, each with the files that do so when one of them is taken;
            without any, it always does.
        seen: What became of it on pins that it was tried on.
        tests: Files of this project that test what is carried of it.
        sources: Where each of these facts is from.
    """

    number: int
    brings: str
    worth: str | None = None
    author: str | None = None
    opened: Day | None = None
    state: str | None = None
    state_seen: date | None = None
    base: CommitText | None = None
    rfc: int | None = None
    files: list[str] = []
    provides: list[Seam] = []
    adapter: Annotated[int, msgspec.Meta(ge=1)] | None = None
    claims: dict[str, list[str]] = {}
    seen: list[Seen] = []
    tests: list[str] = []
    sources: dict[str, str]

    def claimed(self, select: Sequence[str]) -> tuple[str, ...]:
        """What it claims where these paths and hunks are taken of it; of nothing named, all."""
        return tuple(
            claim
            for claim, paths in self.claims.items()
            if not select
            or not paths
            or any(_takes(each, path) for each in select for path in paths)
        )


def pr_file(project: Project, number: int) -> PrFile | None:
    """What the project knows of a pull request; None where it has no such file.

    Raises:
        LanewrightError: The file cannot be read, has a key that it should not, is about another
            number, or has a fact without a source.
    """
    path = project.patches / str(number) / "pr.toml"
    if not os.path.lexists(path):
        return None
    if not path.is_file():
        raise LanewrightError(
            f"{path} is no file, so what #{number} claims is not known",
            hint="put the file there, or remove what is in its place",
        )
    try:
        found = load(path, PrFile)
    except LanewrightError as error:
        hint = "CONTRIBUTING.md lists the keys under “What is known of a pull request”"
        raise LanewrightError(str(error), hint=hint) from error
    if found.number != number:
        raise LanewrightError(
            f"{path}: number: it is about #{found.number}, and its folder is of #{number}",
            hint="correct one of the two",
        )
    _require_sources(path, found)
    return found


def _require_sources(path: Path, found: PrFile) -> None:
    facts = {
        field.name
        for field in msgspec.structs.fields(found)
        if field.name not in OWN_KEYS and getattr(found, field.name) not in (None, [], {})
    }
    for key in sorted(facts):
        if not found.sources.get(key, "").strip():
            raise LanewrightError(
                f"{path}: {key}: [sources] does not say where it is from",
                hint=f"name its source, or take {key} out: what is not known is left out",
            )
    for key in sorted(found.sources.keys() - facts):
        raise LanewrightError(
            f"{path}: sources.{key}: the file states no such fact", hint="take it out of [sources]"
        )


def _takes(selected: str, path: str) -> bool:
    """Whether a path or a hunk (``path:id``) of a series is of a file."""
    return selected == path or selected.rpartition(":")[0] == path
