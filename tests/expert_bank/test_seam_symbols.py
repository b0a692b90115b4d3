"""What an adapter takes of a pull request's module: found, or refused by all its names."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from expert_bank.glue.seams.symbols import Symbols
from expert_bank.refused import Refused
from expert_bank.seams import Used

MODULE = "a_pull_request"
SOURCE = """\
from dataclasses import dataclass

LIMIT = 3


@dataclass
class Tables:
    rows: int

    def part(self, table, layer):
        return self, table, layer


class Bank:
    @staticmethod
    def pin(tensor, *, slowly=False):
        return tensor


def copy(source, destination, count=1, *others, **more):
    return source
"""


@pytest.fixture
def symbols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Symbols]]:
    """The module with a text of its own; imported anew in each test."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def of(text: str = SOURCE) -> Symbols:
        (tmp_path / f"{MODULE}.py").write_text(text)
        return Symbols(Used("RowCopy", "96177"), MODULE, "#56177 as of commit 4b545d9")

    yield of
    sys.modules.pop(MODULE, None)


@pytest.mark.parametrize(
    "take",
    [
        lambda of: of.function("copy", "source", "destination"),
        lambda of: of.function("copy", "source", "destination", "count"),
        lambda of: of.function("Tables.part", "self", "table", "layer"),
        lambda of: of.function("Bank.pin", "tensor"),
        lambda of: of.value("LIMIT", "LIMIT"),
    ],
)
def test_what_fits_is_taken(
    symbols: Callable[..., Symbols], take: Callable[[Symbols], Any]
) -> None:
    assert take(symbols()) is not None
    symbols().fields("Tables", "rows")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def copy(", "def copied(", "a_pull_request: there is no copy;"),
        ("def copy(source,", "def copy(src,", "copy takes (src, destination, "),
        (
            "destination, count=1,",
            "destination, count, shape,",
            "copy takes (source, destination, ",
        ),
        ("source, destination, count=1, *others, **more", "*source", "copy takes (*source);"),
        (
            "source, destination, count=1, *others,",
            "source, *, destination, count,",
            "copy takes (so",
        ),
        ("def copy(", "copy = 3\ndef copied(", "copy is no function;"),
        ("LIMIT = 3", "import nowhere_at_all", "cannot be imported (ModuleNotFoundError: No mo"),
        ("LIMIT = 3", "LIMIT = 1 / 0", "cannot be imported (ZeroDivisionError: "),
        ("LIMIT = 3", "LIMIT = (", "cannot be imported (SyntaxError: "),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    symbols: Callable[..., Symbols], old: str, new: str, told: str
) -> None:
    text = SOURCE.replace(old, new)
    assert text != SOURCE
    with pytest.raises(Refused) as refused:
        symbols(text).function("copy", "source", "destination", "count")
    message = str(refused.value)
    assert message.startswith("RowCopy from #96177: a_pull_request: ")
    assert told in message
    assert (
        "lanewright's adapter was written for #56177 as of commit 4b545d9 and wants"
        " copy(source, destination, count)\n"
    ) in message
    assert 'say RowCopy = "own" in [seams]' in message


def test_a_module_that_is_not_there_is_named(symbols: Callable[..., Symbols]) -> None:
    made = symbols()
    (Path(sys.path[0]) / f"{MODULE}.py").unlink()
    with pytest.raises(Refused, match="a_pull_request: cannot be imported"):
        made.function("copy", "source")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rows: int", "slots: int", "Tables has no rows;"),
        ("@dataclass\n", "", "Tables has no rows;"),
        ("class Tables", "class Table", "there is no Tables;"),
    ],
)
def test_a_dataclass_without_a_field_is_refused(
    symbols: Callable[..., Symbols], old: str, new: str, told: str
) -> None:
    with pytest.raises(Refused) as refused:
        symbols(SOURCE.replace(old, new)).fields("Tables", "rows")
    assert told in str(refused.value)
    assert "wants Tables with rows\n" in str(refused.value)
