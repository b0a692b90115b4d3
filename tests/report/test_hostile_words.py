"""Names, titles and lines of others stay where they belong, in every form and on any terminal."""

import json
import os
import re
import subprocess
import sys

import pytest

from lanewright.invisible import INVISIBLE
from lanewright.report.github import starts
from lanewright.report.shown import WIDE, cut
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, tree_of
from tests.report.conftest import Told
from tests.report.reading import entry_of, hunk_at
from tests.upstream.clash import MAIN, clash
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]

PATH = "vllm/engine.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (n, n) for n in range(6))
TITLE = "\x1b[31mred\x1b[0m [bold]x[/bold] \u202eevil\n::error::y | <b> #12 @all\r\u2028z"
FORMS = ("text", "markdown", "github")


def edited(number: int, value: int) -> bytes:
    return TEXT.replace(b"return %d\n" % number, b"return %d\n" % value)


@pytest.fixture
def titled(carrying: Carrying) -> Carrying:
    """A conflict with hostile lines, of a pull request of hostile title, worth and claim."""
    evil = edited(2, 3).replace(b"return 3", b"return '\x1b[31m \xe2\x80\xae \r x'", 1)
    clash(carrying, {PATH: TEXT}, {PATH: evil}, {PATH: edited(2, 22)})
    folder = carrying.root / "patches/5"
    folder.mkdir(exist_ok=True)
    text = json.dumps(TITLE)
    (folder / "pr.toml").write_text(
        f"number = 5\nbrings = {text}\nworth = {text}\n[claims]\n{text} = []\n"
        '[sources]\nbrings = "a"\nworth = "a"\nclaims = "a"\n'
    )
    return carrying


def said(world: Carrying, capfd: Capture, form: str, *, code: int = 3) -> str:
    capfd.readouterr()
    assert world.run("report", "--format", form) == code
    return capfd.readouterr().out


@pytest.mark.parametrize("form", FORMS)
def test_nothing_moves_the_cursor_or_hides(titled: Carrying, capfd: Capture, form: str) -> None:
    text = said(titled, capfd, form)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]", text)
    assert set(INVISIBLE.findall(text)) <= {"\u200b"}
    if form == "github":
        assert all(line.startswith("::") for line in text.splitlines())
    if form == "markdown":
        assert "<b>" not in text
        assert "#12" not in text


@pytest.mark.parametrize("columns", [1, 20, 40, 132])
def test_a_table_fits_a_narrow_terminal_and_has_no_colour(
    titled: Carrying, capfd: Capture, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("lanewright.commands.report.WIDTH", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = said(titled, capfd, "text")
    assert "\x1b" not in text
    table = text.partition("\n#5: ")[0].splitlines()[2:]
    assert max(map(len, table)) <= max(columns, 40)
    assert "hand" in "".join(table)


def test_a_commit_of_no_calendar_with_a_subject_of_no_encoding(
    carrying: Carrying, told: Told
) -> None:
    made = clash(carrying, {PATH: TEXT}, {PATH: edited(2, 3)}, {PATH: edited(2, 22)})
    upstream = Repository(carrying.upstream)
    pin = CommitId(carrying.series.read_text().partition("git:")[2][:40])
    stamp = "a <a@b> 999999999999999999 +0000"
    head = f"tree {tree_of(upstream, pin)}\nparent {made.before}\nauthor {stamp}\ncommitter {stamp}\n\n"
    raw = head.encode() + b"caf\xe9 \xff\n"
    found = upstream.run("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    guilty = CommitId(found.stdout.decode().strip())
    upstream.run("update-ref", MAIN, guilty)
    made.stand_on(guilty)
    assert carrying.run("fetch") == 0
    commit = hunk_at(told(carrying), PATH)["cause"]["commit"]
    assert (commit["id"], commit["subject"]) == (guilty, "caf\ufffd \ufffd")


def test_json_is_utf_8_on_any_terminal(titled: Carrying) -> None:
    (titled.root / "patches/5/pr.toml").write_text(
        'number = 5\nbrings = "né"\n[sources]\nbrings = "a"\n'
    )
    environment = {
        **os.environ,
        "PYTHONIOENCODING": "ascii",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-m", "lanewright", "-C", str(titled.root), "report"]
    done = subprocess.run([*command, "--json"], capture_output=True, check=False, env=environment)
    assert done.returncode == 3
    assert entry_of(json.loads(done.stdout.decode("utf-8")), "5")["title"] == "né"
    done = subprocess.run(
        [*command, "--format", "markdown"], capture_output=True, check=False, env=environment
    )
    assert "né" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("series", "count", "lines"),
    [
        ("a = 1\n[[entry]]\n  [[ entry ]]\n", 2, [2, 3]),
        ("# [[entry]]\n[[\"entry\"]]\n[['entry']]\n", 2, [2, 3]),
        ("a = 1\nentry = [{ pull = 1 }, { pull = 2 }]\n", 2, [2, 2]),
        ('title = """\n[[entry]]\n"""\n[[entry]]\n', 1, [1]),
        ("a = '\x0c \x85 \u2028'\n[[entry]]\n", 1, [2]),
    ],
    ids=["plain", "quoted", "inline", "within a text", "odd line ends"],
)
def test_an_entry_begins_where_a_person_finds_it(series: str, count: int, lines: list[int]) -> None:
    assert starts(series, count) == lines


SIDES: list[tuple[str, bytes, bytes, bytes, list[str]]] = [
    ("line ends", TEXT, TEXT.replace(b"2\n", b"2\r\n"), edited(2, 22), ["    return 2\r"]),
    (
        "crlf",
        TEXT.replace(b"\n", b"\r\n"),
        edited(2, 3).replace(b"\n", b"\r\n"),
        edited(2, 22).replace(b"\n", b"\r\n"),
        ["    return 3"],
    ),
    (
        "no utf-8",
        TEXT,
        TEXT.replace(b"return 2\n", b"return '\xff'\n"),
        edited(2, 22),
        ["    return '\ufffd'"],
    ),
    ("start", TEXT, b"import os\n" + TEXT, b"import re\n" + TEXT, ["import os"]),
    ("end", TEXT, TEXT + b"x = 1\n", TEXT + b"x = 2\n", ["x = 1"]),
]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "lines"),
    [pytest.param(*sides, id=name) for name, *sides in SIDES],
)
def test_the_lanes_side(
    carrying: Carrying, told: Told, base: bytes, ours: bytes, theirs: bytes, lines: list[str]
) -> None:
    clash(carrying, {PATH: base}, {PATH: ours}, {PATH: theirs})
    sides = hunk_at(told(carrying), PATH)["sides"]
    assert sides["ours"]["lines"] == lines
    number = sides["ours"]["first"]
    text = ours.decode("utf-8", "replace").split("\n")
    assert text[number - 1].removesuffix("\r") == lines[0].removesuffix("\r")
    assert sides["theirs"]["lines"] != sides["base"]["lines"]


def test_a_line_without_an_end_is_told(carrying: Carrying, told: Told, capfd: Capture) -> None:
    base, ours = TEXT + b"x = 1", TEXT + b"x = 1\n"
    clash(carrying, {PATH: base}, {PATH: ours}, {PATH: TEXT + b"x = 2"})
    sides = hunk_at(told(carrying), PATH)["sides"]
    assert [sides[side].get("unended", False) for side in ("base", "ours", "theirs")] == [
        True,
        False,
        True,
    ]
    text = said(carrying, capfd, "text")
    assert text.count("| \\ no newline at the end of the file") == 2


def test_a_very_long_line_is_cut_short() -> None:
    assert cut("x" * WIDE) == "x" * WIDE
    assert cut("x" * (WIDE + 5)) == "x" * WIDE + "... 5 more characters"
