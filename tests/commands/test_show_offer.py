"""``show`` of a pull request that is not carried: what ``add`` can be told to take."""

import json
import re
from pathlib import Path

import pytest

from lanewright.store.objects import CommitId
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow

Capture = pytest.CaptureFixture[str]

FILE, NEW, GONE = "vllm/own.py", "vllm/a:beef.py", "vllm/gone.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (number, number) for number in range(9))
HUNK = re.compile(r"^  (vllm/\S+):([0-9a-f]{10})(?: in (\S+))?  (.*)$", re.MULTILINE)


@pytest.fixture
def offering(carrying: Carrying, capfd: Capture) -> CommitId:
    """Upstream's #7: two hunks in one file, a new file, one that goes, and one outside ``vllm/``."""
    base = grow(carrying, "main", carrying.main[-1], {FILE: TEXT.decode(), GONE: "x = 1\n"})
    edited = TEXT.replace(b"return 1", b"return 11").replace(b"return 7", b"return 77")
    changes = {FILE: edited, NEW: b"added = 1\n", GONE: None, "docs/a.md": b"x\n"}
    head = carrying.push(7, base, changes)
    assert carrying.run("rebase", "--to", "main") == 0
    (carrying.root / "series/sample.lock").unlink()
    capfd.readouterr()
    return head


def listed(capfd: Capture) -> list[tuple[str, str, str, str]]:
    return HUNK.findall(capfd.readouterr().out)


def state(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", [("7",), ("#7",), ("sample", "7"), ("sample", "#7")])
def test_each_hunk_is_named_as_add_takes_it(
    carrying: Carrying, offering: CommitId, capfd: Capture, words: tuple[str, ...]
) -> None:
    before = state(carrying.root)
    assert carrying.run("show", *words) == 0
    captured = capfd.readouterr()
    assert captured.out.startswith(f"#7 ({offering[:12]} on ")
    assert ": 4 hunks in 3 files; not carried\n" in captured.out
    found = HUNK.findall(captured.out)
    assert [(path, symbol, lines) for path, _, symbol, lines in found] == [
        (NEW, "", "before line 1"),
        (GONE, "", "line 1"),
        (FILE, "f_1", "lines 3-9"),
        (FILE, "f_7", "lines 27-33"),
    ]
    assert "#7 changes 1 file outside vllm/ too" in captured.err
    assert captured.err.endswith(f"next: lanewright add 7, or a part: lanewright add 7:{NEW}\n")
    assert state(carrying.root) == before


def test_what_is_listed_can_be_added_and_is_told_from_the_lock_then(
    carrying: Carrying, offering: CommitId, capfd: Capture
) -> None:
    assert carrying.run("show", "7") == 0
    names = [(path, hunk) for path, hunk, *_ in listed(capfd)]
    path, hunk = names[2]
    assert carrying.run("add", f"7:{path}:{hunk}") == 0
    [entry] = carrying.lock.entries
    assert [(each.path, each.id) for each in entry.hunks] == names
    assert [h.id for h in entry.hunks if h.outcome != "not selected"] == [hunk]
    assert entry.pull
    assert entry.pull.head == offering
    capfd.readouterr()
    assert carrying.run("show", "7") == 0
    assert "3 not selected" in capfd.readouterr().out


@pytest.mark.usefixtures("offering")
def test_a_file_or_hunk_of_it_is_shown_with_its_text(carrying: Carrying, capfd: Capture) -> None:
    assert carrying.run("show", f"7:{FILE}") == 0
    out = capfd.readouterr().out
    assert out.count("\n@@ -") == 2
    hunk = re.findall(rf"^{FILE}:(\w+) in f_7  lines 27-33$", out, re.MULTILINE)[0]
    assert carrying.run("show", f"7:{FILE}:{hunk[:5]}") == 0
    out = capfd.readouterr().out
    assert "+    return 77\n" in out
    assert "+    return 11\n" not in out
    assert carrying.run("show", f"7:{NEW}") == 0
    assert "+added = 1\n" in capfd.readouterr().out


def test_as_json_it_is_what_the_lock_will_say(
    carrying: Carrying, offering: CommitId, capfd: Capture
) -> None:
    assert carrying.run("show", "7", "--json") == 0
    [told] = json.loads(capfd.readouterr().out)
    assert carrying.run("add", "7") == 0
    capfd.readouterr()
    assert carrying.run("show", "7", "--json") == 0
    [entry] = json.loads(capfd.readouterr().out)
    assert told["pull"]["head"] == offering
    for name in ("name", "kind", "source", "pull"):
        assert told[name] == entry[name]
    assert told["hunks"] == [
        {name: hunk[name] for name in ("id", "path", "symbol", "lines")} for hunk in entry["hunks"]
    ]


@pytest.mark.usefixtures("offering")
@pytest.mark.parametrize(
    ("part", "told"),
    [
        (f"7:{FILE}:ffff", f": 7:{FILE}:ffff matches 0 hunks of #7 (its hunks there: "),
        ("7:vllm/none.py", "matches 0 hunks of #7 (it does not change it)"),
    ],
)
def test_a_part_that_is_not_there_leads_to_the_list(
    carrying: Carrying, capfd: Capture, part: str, told: str
) -> None:
    for command in ("show", "add"):
        assert carrying.run(command, part) == 1
        error = capfd.readouterr().err
        assert told in error
        assert error.endswith("next: lanewright show 7 lists its hunks\n")


def test_one_that_cannot_be_had_says_why(carrying: Carrying, capfd: Capture) -> None:
    assert carrying.run("show", "4711") == 1
    assert "4711" in capfd.readouterr().err
    file = carrying.root / "upstream.toml"
    file.write_text(file.read_text().partition("[git]")[0])
    assert carrying.run("show", "4711") == 1
    assert "pull requests come from one" in capfd.readouterr().err
