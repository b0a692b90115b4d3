"""Values as TOML, in the hand of whoever wrote the file."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Array, Item, String

from lanewright.errors import LanewrightError

COLUMNS = 80
NOT_LITERAL = re.compile(r"['\x00-\x1f\x7f]")
BARE_NEWLINE = re.compile(r"(?<!\r)\n")


def set_value(content: str, path: Sequence[str | int], value: object, newline: str) -> str:
    """A table's text with one value set, or its key removed where the value is None.

    Args:
        content: The table: header, keys, and a newline at its end.
        path: Keys and indexes down to the value; all but the last are there.
        value: Strings, numbers, booleans, lists and tables of them.
        newline: How new lines end.

    Raises:
        LanewrightError: tomlkit cannot make the edit.
    """
    *parents, key = path
    try:
        document = tomlkit.parse(content)
        table: Any = document
        for part in parents:
            table = table[part]
        if value is None:
            del table[key]
        else:
            table[key] = item(value, name=str(key), like=table.get(key))
        edited = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError, LookupError, ValueError) as error:
        raise LanewrightError(f"cannot set {'.'.join(map(str, path))}: {error}") from error
    return fit(edited, newline)


def item(value: object, *, name: str = "", like: object = None) -> Item:
    """A value for tomlkit.

    Args:
        value: The value.
        name: Its key; a list whose line would be longer than 80 columns gets a line per item.
        like: The value in whose place it comes; a string keeps its kind of quotes.
    """
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, each in value.items():
            table.append(key, item(each))
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        for each in value:
            array.append(item(each))
        wide = len(f"{name} = {array.as_string()}") > COLUMNS
        return array.multiline(wide and bool(name))
    if isinstance(value, str) and isinstance(like, String):
        literal = like.as_string() == f"'{like}'"
        return tomlkit.string(value, literal=literal and not NOT_LITERAL.search(value))
    return tomlkit.item(value)


def lines_of(values: Mapping[str, object]) -> str:
    """Keys and values, a line each."""
    document = tomlkit.document()
    for key, value in values.items():
        document.append(key, item(value, name=key))
    return tomlkit.dumps(document)


def with_element(
    content: str, key: str, index: int, values: Mapping[str, object] | None, newline: str
) -> str:
    """A table's text whose array ``key`` has one more table at ``index``, or one less (None)."""
    try:
        document = tomlkit.parse(content)
        array = document[key]
        if not isinstance(array, Array):
            raise LanewrightError(f"{key} is no array")
        if values is None:
            del array[index]
        else:
            element = item(values)
            array.insert(index, element)
        edited = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, LookupError, ValueError) as error:
        raise LanewrightError(f"cannot edit {key}: {error}") from error
    return fit(edited, newline)


def newline_of(text: str) -> str:
    """How lines end here; mixed files count as bare newlines, which are left as they are."""
    return "\r\n" if "\r\n" in text and not BARE_NEWLINE.search(text) else "\n"


def fit(text: str, newline: str) -> str:
    """Give lines that tomlkit wrote the newline of the file."""
    return BARE_NEWLINE.sub("\r\n", text) if newline == "\r\n" else text
