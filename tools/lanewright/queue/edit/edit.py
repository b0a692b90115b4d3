"""Edits of a series as text: what is not meant stays as people wrote it, to the byte."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.queue.edit.sections import Section, blank_apart, data_of, sections
from lanewright.queue.edit.tomlvalue import fit, lines_of, newline_of, set_value, with_element


def with_value(text: str, keys: tuple[str, ...], value: object) -> str:
    """The series with one value set or removed, such as ``("pin",)`` or ``("model", "recipe")``.

    The kind of its quotes and the comment behind it stay. A key that is new follows the last one
    of its table.

    Args:
        text: The series.
        keys: Its place.
        value: What ``tomllib`` would read there; None removes the key.

    Raises:
        LanewrightError: There is no such table, or the edit cannot be made.
    """
    wanted = data_of(text)
    table: Any = wanted
    for key in keys[:-1]:
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        raise LanewrightError(f"there is no table [{'.'.join(keys[:-1])}]")
    if value is not None:
        table[keys[-1]] = value
    elif table.pop(keys[-1], None) is None:
        return text
    found = sections(_ended(text))
    own = [n for n, section in enumerate(found) if _has(section, keys)]
    parents = [n for n, section in enumerate(found) if _has(section, keys[:-1])]
    at = (own or parents)[0]
    found[at] = replace(
        found[at], content=set_value(found[at].content, keys, value, newline_of(text))
    )
    return _joined(text, found, wanted)


def with_entry(text: str, values: Mapping[str, object]) -> str:
    """The series with one more entry, after those that it has.

    It goes before the first ``overlay``, though: overlays are laid on top of what is patched, so
    nothing is merged onto them.

    Args:
        text: The series; it may have no entry yet.
        values: Keys of the entry, in order, as ``tomllib`` would read them.

    Raises:
        LanewrightError: The edit cannot be made.
    """
    wanted = data_of(text)
    entries = _entries(wanted)
    index = next((n for n, each in enumerate(entries) if "overlay" in each), len(entries))
    entries.insert(index, dict(values))
    found = sections(_ended(text))
    if "entry" in found[0].keys:
        content = with_element(found[0].content, "entry", index, values, newline_of(text))
        found[0] = replace(found[0], content=content)
        return _joined(text, found, wanted)
    owners = _owners(found)
    last = max((n for n, owner in enumerate(owners) if owner is not None), default=len(found) - 1)
    at = owners.index(index) if index in owners else last + 1
    newline = newline_of(text)
    near, rest = blank_apart(found[at - 1].below)
    something = any(section.text for section in found[: at - 1]) or found[at - 1].content or near
    found[at - 1] = replace(found[at - 1], below=near + (newline if something else ""))
    found.insert(at, Section("", fit(f"[[entry]]\n{lines_of(values)}", newline), rest))
    return _joined(text, found, wanted)


def without_entry(text: str, index: int) -> str:
    """The series without one entry, counted from 0.

    The comment right above its header, the one right below its last key and one gap go with it; a
    comment that stands apart stays.

    Raises:
        LanewrightError: The edit cannot be made.
        LookupError: There is no such entry.
    """
    wanted = data_of(text)
    del _entries(wanted)[index]
    found = sections(_ended(text))
    if "entry" in found[0].keys:
        content = with_element(found[0].content, "entry", index, None, newline_of(text))
        found[0] = replace(found[0], content=content)
        return _joined(text, found, wanted)
    if not wanted["entry"]:
        del wanted["entry"]
    for at in _places(found, index)[::-1]:
        _drop(found, at)
    return _joined(text, found, wanted)


def with_entry_value(text: str, index: int, key: str, value: object | None) -> str:
    """The series with one key of an entry, counted from 0, set or removed (None).

    A list whose line would be longer than 80 columns gets a line per item.

    Raises:
        LanewrightError: The edit cannot be made.
        LookupError: There is no such entry.
    """
    wanted = data_of(text)
    entry = _entries(wanted)[index]
    if value is None and key not in entry:
        return text
    entry.pop(key, None)
    if value is not None:
        entry[key] = value
    found = sections(_ended(text))
    path: tuple[str | int, ...] = ("entry", index, key)
    at = 0
    if "entry" not in found[0].keys:
        at, *below = _places(found, index)
        apart = [n for n in below if key in found[n].keys["entry"]]
        for each in apart[::-1]:  # a table of its own, such as [entry.patch]
            _drop(found, each)
        if apart and value is None:
            return _joined(text, found, wanted)
        path = ("entry", 0, key)
    found[at] = replace(
        found[at], content=set_value(found[at].content, path, value, newline_of(text))
    )
    return _joined(text, found, wanted)


def _entries(data: dict[str, Any]) -> list[dict[str, Any]]:
    entries: object = data.setdefault("entry", [])
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise LanewrightError("`entry` is no list of tables", hint="write each as [[entry]]")
    return entries


def _has(section: Section, keys: tuple[str, ...]) -> bool:
    table: Any = section.keys
    for key in keys:
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    return True


def _owners(found: list[Section]) -> list[int | None]:
    """Per section, the entry that it is of: ``[[entry]]`` begins one, ``[entry.patch]`` adds."""
    owners: list[int | None] = []
    count = -1
    for section in found:
        kind = section.keys.get("entry")
        count += isinstance(kind, list)
        owners.append(None if kind is None else count)
    return owners


def _places(found: list[Section], index: int) -> list[int]:
    return [n for n, owner in enumerate(_owners(found)) if owner == index]


def _drop(found: list[Section], at: int) -> None:
    """Remove a section; of the gaps above and below it one stays."""
    _, rest = blank_apart(found.pop(at).below)
    above = found[at - 1].below
    near, gap = blank_apart(above)
    apart = gap.strip()
    below = above + rest.lstrip("\r\n") if apart else near + rest
    found[at - 1] = replace(found[at - 1], below=below)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + newline_of(text)


def _joined(text: str, found: list[Section], wanted: Mapping[str, Any]) -> str:
    """The edited text, ended as it was.

    Raises:
        LanewrightError: It does not say what it should.
    """
    edited = "".join(section.text for section in found)
    if _ended(text) != text:
        edited = edited.removesuffix("\n").removesuffix("\r")
    try:
        right = tomllib.loads(edited) == wanted
    except ValueError:
        right = False
    if not right:
        raise LanewrightError(
            "this way of writing TOML cannot be edited without touching more than was asked",
            hint="make the edit by hand",
        )
    return edited
