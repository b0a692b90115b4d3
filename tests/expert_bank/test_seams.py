"""The file that names pull requests at seams, honest and not, and how entries are counted."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.refused import Refused
from expert_bank.seams import FILE, MOST_BYTES, Chosen, Used, read_seams

HONEST = {
    "RowTable": {"from": "96177", "adapter": "56177"},
    "HostRows": {"from": "57943", "adapter": "57943"},
    "PrefillStage": {"from": "62060", "adapter": "62060"},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "seams.json"
    path.write_text(json.dumps(HONEST))
    return path


def reason(file: Path) -> str:
    """Why the file is refused; the message names it, and says what to do."""
    with pytest.raises(Refused) as refused:
        read_seams(file)
    message, hint = str(refused.value).rsplit("\n", 1)
    assert "build the lane again" in hint
    assert message.startswith(f"{file}: ")
    return message.removeprefix(f"{file}: ")


def test_each_seam_has_its_pull_request_and_adapter(file: Path) -> None:
    assert read_seams(file) == {
        "RowTable": Chosen("96177", "56177"),
        "HostRows": Chosen("57943", "57943"),
        "PrefillStage": Chosen("62060", "62060"),
    }


def test_where_there_is_no_file_all_is_our_own(tmp_path: Path) -> None:
    assert read_seams(tmp_path / "seams.json") == {}
    assert not FILE.exists()
    assert read_seams() == {}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no JSON that names each seam once"),
        (b"\xff", "no JSON"),
        (b"[" * MOST_BYTES, "no JSON"),
        (b"[]", "no object"),
        (b'{"RowTable": {}, "RowTable": {}}', "a key stands there twice"),
        (b'{"RowTabel": {"from": "1", "adapter": "1"}}', "'RowTabel' is no seam"),
        (b'{"RowTable": "56177"}', "RowTable must say `from` and `adapter`"),
        (b'{"RowTable": {"from": "1"}}', "RowTable must say `from` and `adapter`"),
        (b'{"RowTable": {"from": "1", "adapter": "1", "x": "1"}}', "and nothing else"),
        (b'{"RowTable": {"from": 1, "adapter": "1"}}', "RowTable: from is no number"),
        (b'{"RowTable": {"from": "own", "adapter": "1"}}', "from is no number .*: 'own'"),
        (b'{"RowTable": {"from": "1", "adapter": "../x"}}', "adapter is no number"),
        (b'{"RowTable": {"from": "1", "adapter": "\\u0661"}}', "adapter is no number"),
        (b'{"RowTable": {"from": "1", "adapter": "1\\n"}}', "adapter is no number"),
        (b" " * (MOST_BYTES + 1), f"no regular file of at most {MOST_BYTES} bytes"),
    ],
)
def test_what_is_not_honest_is_refused(file: Path, content: bytes, told: str) -> None:
    file.write_bytes(content)
    assert re.search(told, reason(file))


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_file_is_refused(file: Path, kind: str) -> None:
    away = file.rename(file.with_name("away"))
    match kind:
        case "link":
            file.symlink_to(away)
        case "folder":
            file.mkdir()
        case _:
            os.mkfifo(file)
    assert "no regular file" in reason(file)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda s: st.dictionaries(st.text(), s)))
def test_nothing_else_is_taken(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:  # noqa: ANN401
    file = tmp_path_factory.getbasetemp() / "anything.json"
    file.write_text(json.dumps(value))
    if value == {}:
        assert read_seams(file) == {}
    else:
        assert reason(file)


def test_each_entry_counts_one_that_fails_too() -> None:
    used = Used("RowCopy", "own")
    halve = used.counted(lambda whole, *, by: whole / by)
    assert used.told() == {"from": "own", "calls": 0}
    assert halve(6, by=3) == 2
    with pytest.raises(ZeroDivisionError):
        halve(6, by=0)
    assert used.told() == {"from": "own", "calls": 2}


def test_what_a_check_enters_is_left_out_even_where_it_fails() -> None:
    used = Used("RowCopy", "own", calls=3)
    halve = used.counted(lambda whole, *, by: whole / by)
    with used.uncounted():
        assert halve(6, by=3) == 2
    with pytest.raises(ZeroDivisionError), used.uncounted():
        halve(6, by=0)
    assert used.calls == 3
    halve(6, by=3)
    assert used.calls == 4
