"""Edits of a series keep every byte that they do not mean."""

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.errors import LanewrightError
from lanewright.queue.edit.edit import with_entry, with_entry_value, with_value, without_entry
from lanewright.queue.edit.sections import sections
from tests.conftest import SERIES

AT_ANY_SPEED = settings(deadline=None, database=None)
HEAD = "title = 'A lane'   # short\npin=\"release:1.1\"  # moved by hand\n"
PATCH = {"patch": "own/new.patch"}

HEADS = st.sampled_from([
    "",
    "# only a comment\n",
    HEAD,
    HEAD + "note = '''\n[[entry]]\n# no entry'''\n",
    HEAD + "list = [\n  1, # [[entry]]\n  [2],\n]\n",
])  # fmt: skip
GAPS = st.sampled_from(
    ["", "\n", "\n\n", "\n# apart\n\n", "# right below\n\n", "  \n", "\n# lead\n"]
)
TABLES = st.sampled_from([
    '[model]\nrecipe = "qwen3-moe-tiny"\n',
    "  [engine] # [[entry]]\n  max_model_len = 512\n",
    "[image]\nsite_packages = '/x'\n# of image\n",
])  # fmt: skip
PATCHES = st.sampled_from([
    '[[entry]]\npatch = "own/a.patch"\n',
    "[[entry]]  # a\npatch = 'own/b.patch' # why\nselect = [\n  'vllm/a.py', # one\n\n]\n",
    '[[ entry ]]\nname = "r"\n[entry.patch]\n">=0.31" = "own/c.patch"\n',
    "[[entry]]\npatch = '''own/d\n# .patch'''\n",
])  # fmt: skip
OVERLAYS = st.sampled_from(['[[entry]]\noverlay = "x"\n', "[[entry]]\n\toverlay='y'# z\n"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Series of every shape: tables in any order, comments and gaps anywhere, both newlines."""
    tables = draw(st.lists(TABLES, max_size=3, unique=True))
    entries = draw(st.lists(PATCHES, max_size=3)) + draw(st.lists(OVERLAYS, max_size=2))
    cut = draw(st.integers(0, len(tables)))
    blocks = [draw(HEADS), *tables[:cut], *entries, *tables[cut:]]
    text = "".join(block + draw(GAPS) for block in blocks)
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


VALUES = st.fixed_dictionaries(
    {"patch": st.text(max_size=5)},
    optional={
        "name": st.sampled_from(["n", "it's", 'a "b"']),
        "select": st.lists(st.text(max_size=30), min_size=1, max_size=4),
    },
)


def entries_of(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(text).get("entry", [])
    return found


def newlines_are_kept(text: str, edited: str) -> bool:
    if "\r\n" in text:
        return "\n" not in edited.replace("\r\n", "")
    return "\r\n" not in edited


@AT_ANY_SPEED
@given(texts())
def test_the_pieces_of_a_file_are_the_file(text: str) -> None:
    found = sections(text)
    assert "".join(section.text for section in found) == text
    for section in found[1:]:
        assert section.content.lstrip().startswith("[")


@AT_ANY_SPEED
@given(texts(), VALUES)
def test_an_entry_that_is_taken_out_again_leaves_the_old_bytes(
    text: str, values: dict[str, Any]
) -> None:
    before = entries_of(text)
    edited = with_entry(text, values)
    after = entries_of(edited)
    index = next((n for n, each in enumerate(before) if "overlay" in each), len(before))
    assert after == [*before[:index], values, *before[index:]]
    assert newlines_are_kept(text, edited)
    assert without_entry(edited, index) == text


@AT_ANY_SPEED
@given(texts(), st.data())
def test_taking_an_entry_out_touches_no_other(text: str, data: st.DataObject) -> None:
    before = tomllib.loads(text)
    if not before.get("entry"):
        return
    index = data.draw(st.integers(0, len(before["entry"]) - 1))
    edited = without_entry(text, index)
    del before["entry"][index]
    assert tomllib.loads(edited).get("entry", []) == before["entry"]
    kept = iter(text.splitlines())
    assert all(line in kept for line in edited.splitlines())  # in order, none new
    assert edited.count("# apart") == text.count("# apart")


@AT_ANY_SPEED
@given(texts(), VALUES, st.data())
def test_a_key_that_is_taken_out_again_leaves_the_old_bytes(
    text: str, values: dict[str, Any], data: st.DataObject
) -> None:
    before = entries_of(text)
    if not before:
        return
    index = data.draw(st.integers(0, len(before) - 1))
    edited = with_entry_value(text, index, "fixes", values["patch"])
    edited = with_entry_value(edited, index, "more", values.get("select", ["x"]))
    assert entries_of(edited)[index]["fixes"] == values["patch"]
    assert newlines_are_kept(text, edited)
    back = with_entry_value(edited, index, "fixes", None)
    assert with_entry_value(back, index, "more", None) == text


@AT_ANY_SPEED
@given(texts(), st.text(max_size=8))
def test_a_pin_that_moves_back_leaves_the_old_bytes(text: str, pin: str) -> None:
    old = tomllib.loads(text).get("pin")
    edited = with_value(text, ("pin",), pin)
    assert tomllib.loads(edited)["pin"] == pin
    assert newlines_are_kept(text, edited)
    if old is not None:
        assert with_value(edited, ("pin",), old) == text


def test_the_pin_of_the_sample_moves_and_nothing_else() -> None:
    expected = SERIES.replace("release:1.1", "release:1.2")
    assert with_value(SERIES, ("pin",), "release:1.2") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pin = 'release:1.1' # why", "pin = 'it' # why"),
        ('pin="release:1.1"# why', 'pin="it"# why'),
        ('"pin"  =  "release:1.1"', '"pin"  =  "it"'),
    ],
)
def test_a_value_keeps_its_quotes_and_its_comment(line: str, expected: str) -> None:
    text = f"title = 'x'\n{line}\n\n[model]\nrecipe = 'qwen3-moe-tiny'\n"
    assert with_value(text, ("pin",), "it") == text.replace(line, expected)


def test_values_of_tables_are_set_and_added() -> None:
    text = with_value(SERIES, ("model", "recipe"), "other")
    assert text == SERIES.replace('"qwen3-moe-tiny"', '"other"')
    text = with_value(SERIES, ("model", "size"), 3)
    assert text == SERIES.replace(
        'recipe = "qwen3-moe-tiny"\n', 'recipe = "qwen3-moe-tiny"\nsize = 3\n'
    )
    text = with_value(SERIES, ("note",), "x")
    assert text == SERIES.replace('"release:1.1"\n', '"release:1.1"\nnote = "x"\n')
    with pytest.raises(LanewrightError, match=r"there is no table \[absent\]"):
        with_value(SERIES, ("absent", "key"), 1)


def test_a_new_entry_stands_before_the_overlays() -> None:
    assert with_entry(SERIES, PATCH) == SERIES.replace(
        "[[entry]]\noverlay", '[[entry]]\npatch = "own/new.patch"\n\n[[entry]]\noverlay'
    )


def test_an_entry_goes_with_the_comment_above_it() -> None:
    expected = SERIES.replace('# the hook\n[[entry]]\npatch = "own/hook.patch"\n\n', "")
    assert without_entry(SERIES, 0) == expected


def test_a_comment_that_stands_apart_stays() -> None:
    text = "a = 1\n\n# --- patches ---\n\n[[entry]]\npatch = 'a'\n\n# --- more ---\n\n"
    text += "[[entry]]\npatch = 'b'\n"
    assert without_entry(text, 0) == (
        "a = 1\n\n# --- patches ---\n\n# --- more ---\n\n[[entry]]\npatch = 'b'\n"
    )


def test_a_long_list_has_one_item_a_line() -> None:
    paths = [f"vllm/model_executor/layers/fused_moe/part_{n}.py" for n in range(2)]
    text = with_entry_value(SERIES, 0, "select", paths)
    lines = "".join(f'    "{path}",\n' for path in paths)
    assert text == SERIES.replace('hook.patch"\n', f'hook.patch"\nselect = [\n{lines}]\n')
    assert with_entry_value(text, 0, "select", ["a"]) == SERIES.replace(
        'hook.patch"\n', 'hook.patch"\nselect = ["a"]\n'
    )


def test_a_table_of_ranges_is_replaced_by_a_value_and_back() -> None:
    text = '[[entry]]\nname = "r"\n[entry.patch]\n"0.30" = "a"\n\n[model]\nrecipe = "x"\n'
    edited = with_entry_value(text, 0, "patch", {">=0.31": "b"})
    assert edited == ('[[entry]]\nname = "r"\npatch = {">=0.31" = "b"}\n\n[model]\nrecipe = "x"\n')
    assert with_entry_value(text, 0, "patch", None) == (
        '[[entry]]\nname = "r"\n\n[model]\nrecipe = "x"\n'
    )


INLINE = """\
title = "x"
entry = [
  {patch = "own/a.patch"},  # first
  # on top
  {overlay = "o"},
]

[model]
recipe = "qwen3-moe-tiny"
"""


def test_entries_in_an_array_are_edited_where_they_are() -> None:
    text = with_entry(INLINE, PATCH)
    assert [*map(next, map(iter, entries_of(text)))] == ["patch", "patch", "overlay"]
    for part in (
        "# first\n",
        "# on top\n",
        '\n[model]\nrecipe = "qwen3-moe-tiny"\n',
        'title = "x"\n',
    ):
        assert part in text
    assert without_entry(text, 1) == INLINE
    named = with_entry_value(INLINE, 0, "name", "n")
    assert entries_of(named)[0] == {"patch": "own/a.patch", "name": "n"}
    assert with_entry_value(named, 0, "name", None) == INLINE
    assert entries_of(with_entry("entry = []\n", PATCH)) == [PATCH]


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(LookupError):
        without_entry(SERIES, 2)
    with pytest.raises(LookupError):
        with_entry_value("title = 'x'\n", 0, "name", "n")


def test_what_is_no_toml_is_told() -> None:
    with pytest.raises(LanewrightError, match="no valid TOML"):
        with_entry("[model\n", PATCH)


@pytest.mark.parametrize("text", ["entry = 1\n", "[entry]\npatch = 'x'\n"])
def test_entries_that_are_none_are_told(text: str) -> None:
    with pytest.raises(LanewrightError, match="entr"):
        with_entry(text, PATCH)
