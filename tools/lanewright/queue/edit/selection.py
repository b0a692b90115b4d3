"""What is taken of an entry, edited: ``56177``, ``56177:vllm/a.py`` or ``56177:vllm/a.py:HUNK``."""

import re
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.queue.inputs import Choice
from lanewright.queue.merge.choose import choose, is_ambiguous, require_no_submodule, units_named
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.queue.series import EntrySpec, Series, name_of
from lanewright.terminal import quoted

HUNK_ID = re.compile(r"[0-9a-f]{4,10}")


@dataclass(frozen=True)
class Part:
    """An entry, a file of it, or a hunk of that.

    Attributes:
        entry: The entry's name; of a pull request that is not carried yet, its number.
        path: The file, or empty.
        hunk: The hunk's id, or its first digits, or empty.
    """

    entry: str
    path: str = ""
    hunk: str = ""

    def __str__(self) -> str:
        """As it is typed."""
        return ":".join(part for part in (self.entry, self.path, self.hunk) if part)


def read_part(text: str) -> Part:
    """Read what a person typed; a leading ``#`` is GitHub's way to write a number.

    Raises:
        LanewrightError: It is no such thing.
    """
    entry, _, rest = text.removeprefix("#").partition(":")
    path, colon, hunk = rest.rpartition(":")
    if not colon or not HUNK_ID.fullmatch(hunk):
        path, hunk = rest, ""
    if not entry or (":" in text and not path):
        raise LanewrightError(
            f"{text!r} names no part of an entry",
            hint="write NUMBER, NUMBER:PATH or NUMBER:PATH:HUNK",
        )
    return Part(entry, path, hunk)


def index_of(series: Series, entry: str) -> int | None:
    """Where a series has an entry of this name or pull-request number."""
    for number, spec in enumerate(series.entry):
        if name_of(spec) == entry or (spec.pull is not None and str(spec.pull) == entry):
            return number
    return None


def with_part(spec: EntrySpec, on_base: OnBase, part: Part, place: str) -> list[str]:
    """The entry's ``select`` with a file or hunk more.

    Raises:
        LanewrightError: There is no such part, or it is carried already.
    """
    if spec.select is None:
        raise LanewrightError(f"{place}: all of {part.entry} is carried already")
    units = _together(on_base, units_of(on_base, part, place), split=spec.split)
    carried = choose(on_base, Choice(tuple(spec.select), split=True), place)
    if all(unit.id in carried for unit in units):
        raise LanewrightError(f"{place}: {part} is carried already")
    whole = _by_path(spec, on_base) | _paths(part, units)
    return _named(on_base, carried | {unit.id for unit in units}, whole)


def without_part(spec: EntrySpec, on_base: OnBase, part: Part, place: str) -> list[str]:
    """The entry's ``select`` without a file or hunk; empty where nothing is left.

    Raises:
        LanewrightError: There is no such part, or it is not carried.
    """
    units = _together(on_base, units_of(on_base, part, place), split=spec.split)
    carried = choose(on_base, Choice(tuple(spec.select or ()), split=True), place)
    if not any(unit.id in carried for unit in units):
        raise LanewrightError(f"{place}: {part} is not carried")
    return _named(on_base, carried - {unit.id for unit in units}, _by_path(spec, on_base))


def only(on_base: OnBase, part: Part, place: str) -> list[str]:
    """The ``select`` of an entry of which one file or hunk is taken.

    Raises:
        LanewrightError: There is no such part.
    """
    units = _together(on_base, units_of(on_base, part, place), split=False)
    return _named(on_base, frozenset(unit.id for unit in units), _paths(part, units))


def hunk_name(on_base: OnBase, part: Part, place: str) -> str:
    """A hunk as ``landed`` lists it.

    Raises:
        LanewrightError: It is no single hunk.
    """
    units = units_of(on_base, part, place)
    if len(units) != 1:
        raise LanewrightError(f"{place}: {part} is {len(units)} hunks; name one, as PATH:HUNK")
    return f"{units[0].path}:{units[0].id}"


def units_of(on_base: OnBase, part: Part, place: str) -> list[Unit]:
    """The units that a file or hunk means.

    Raises:
        LanewrightError: There are none, or it fits several hunks.
    """
    require_no_submodule(on_base, part.path, place)
    name = f"{part.path}:{part.hunk}" if part.hunk else part.path
    found = units_named(on_base.units, name)
    if not found or is_ambiguous(found, name):
        in_file = [unit.id for unit in on_base.units if unit.path == part.path]
        known = f"its hunks there: {', '.join(in_file)}" if in_file else "it does not change it"
        raise LanewrightError(
            f"{place}: {part} matches {len(found)} hunks of {on_base.diff.source} ({known})",
            hint=f"lanewright show {quoted(part.entry)} lists its hunks",
        )
    return found


def _together(on_base: OnBase, units: list[Unit], *, split: bool) -> list[Unit]:
    """These units, and all of both names of the renamed files among them."""
    paths = {unit.path for unit in units}
    renamed = [file for file in on_base.diff.files if file.partner and file.path in paths]
    if split or not renamed:
        return units
    both = {name for file in renamed for name in (file.path, file.partner)}
    return [unit for unit in on_base.units if unit in units or unit.path in both]


def _paths(part: Part, units: list[Unit]) -> set[str]:
    """The files that a part means as a whole."""
    return set() if part.hunk else {unit.path for unit in units}


def _by_path(spec: EntrySpec, on_base: OnBase) -> set[str]:
    """The files that an entry takes as a whole, whatever hunks they come to have."""
    return set(on_base.sides) if spec.select is None else on_base.sides.keys() & set(spec.select)


def _named(on_base: OnBase, chosen: frozenset[str], whole: set[str]) -> list[str]:
    """Files that are meant as a whole by their path, hunks of others by their id."""
    named: list[str] = []
    for path in on_base.sides:
        units = [unit for unit in on_base.units if unit.path == path]
        taken = [unit for unit in units if unit.id in chosen]
        if len(taken) == len(units) and path in whole:
            named.append(path)
        else:
            named += [f"{path}:{unit.id}" for unit in taken]
    return named
