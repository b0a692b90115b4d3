"""Files that git merges cleanly and that cannot be right: conflicts like any other."""

import json

import pytest

from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]

TWICE, CALL, NOTES, PLAIN = "vllm/twice.py", "vllm/call.py", "vllm/notes.md", "vllm/plain.py"
LINES = [b"line_%d = 0\n" % number for number in range(12)]
MARK = b"<<<<<<< an example\n"


def added(first: bytes, at: int, line: bytes, last: bytes = b"") -> bytes:
    """Twelve lines with one more."""
    return b"".join([first, *LINES[:at], line, *LINES[at:], last])


def call(at: int, line: bytes = b"") -> bytes:
    inside = added(b"", at, line).replace(b"0\n", b"0,\n")
    return b"f(\n" + inside + b")\n"


# Per file its base, ours, theirs, and what git makes of them.
FILES = {
    TWICE: (
        added(b"", 0, b""),
        added(b"", 2, b"def f(): ...\n"),
        added(b"", 9, b"def f(): ...\n"),
        added(b"", 2, b"def f(): ...\n").replace(LINES[9], b"def f(): ...\n" + LINES[9]),
    ),
    CALL: (
        call(0),
        call(2, b"x = 0\n"),
        call(9, b"x = 0\n"),
        call(2, b"x = 0\n").replace(b"line_9", b"x = 0,\nline_9"),
    ),
    NOTES: (
        added(b"", 0, b""),
        added(b"", 2, MARK),
        added(b"", 9, MARK),
        added(b"", 2, MARK).replace(LINES[9], MARK + LINES[9]),
    ),
}
WHYS = {
    TWICE: f"{TWICE}: the merge defines f 2 times",
    CALL: f"{CALL}, line 12: does not compile: keyword argument repeated: x",
    NOTES: f"{NOTES}, line 3: a conflict marker was left in it",
}
BASE, OURS, THEIRS, MERGED = (
    {path: sides[number] for path, sides in FILES.items()} for number in range(4)
)
SETTLED = THEIRS


def plain(value: bytes) -> bytes:
    return b"value = %s\n" % value


@pytest.fixture
def gated(carrying: Carrying) -> Clash:
    """A pull request that git merges, and no gate lets pass."""
    return clash(carrying, {**BASE, PLAIN: plain(b"1")}, {**OURS, PLAIN: plain(b"2")}, THEIRS)


def test_all_are_told_together_with_every_other_conflict(gated: Clash, capfd: Capture) -> None:
    gated.pull(6, {PLAIN: plain(b"3")})
    gated.pull(7, {"vllm/alone.py": plain(b"4")})
    assert gated.world.run("add", "6") == 3
    assert gated.world.run("add", "7") == 3
    capfd.readouterr()
    assert gated.world.run("build") == 3
    error = capfd.readouterr().err
    for path, why in WHYS.items():
        assert f"\n  5: {path}, hunk " in error
        assert f": conflict; {why}" in error
        assert f"; {path} was changed by upstream between " in error
    assert f"\n  6: {PLAIN}, hunk " in error
    assert error.endswith("next: lanewright resolve 5\n")
    capfd.readouterr()
    assert gated.world.run("report", "--json") == 3
    told = json.loads(capfd.readouterr().out)
    assert "alone.py" in json.dumps(told)
    assert not (gated.world.root / "series/sample.lock").exists()


def test_every_chosen_hunk_of_such_a_file_is_open(carrying: Carrying) -> None:
    theirs = THEIRS[TWICE].replace(LINES[5], b"line_5 = 5\n")
    clash(carrying, {TWICE: BASE[TWICE]}, {TWICE: OURS[TWICE]}, {TWICE: theirs})
    assert carrying.run("rebase", "--to", "main", "--keep-going") == 3
    hunks = carrying.lock.entries[0].hunks
    assert [(hunk.outcome, hunk.open) for hunk in hunks] == [("conflict", True)] * len(hunks)
    assert carrying.lock.tree == carrying.lock.pin.tree


def test_a_person_finds_what_git_made_and_each_side(gated: Clash, capfd: Capture) -> None:
    assert gated.world.run("resolve", "5") == 0
    folder = gated.folder()
    for path, why in WHYS.items():
        note, _, rest = (folder / path).read_bytes().partition(b"\n")
        assert note.startswith(f"<<<<<<< git merged this, but: {why}".encode())
        assert rest == MERGED[path]
        for side, files in (("base", BASE), ("ours", OURS), ("theirs", THEIRS)):
            assert (folder / "sides" / side / path).read_bytes() == files[path]
        (folder / path).write_bytes(rest)
    capfd.readouterr()
    assert gated.world.run("resolve", "5", "--done") == 3  # what git made is no answer
    error = capfd.readouterr().err
    assert all(f"{folder}/{why}" in error for why in WHYS.values())
    assert not gated.fixes()


def test_what_a_person_makes_of_it_is_taken_by_every_later_build(
    gated: Clash, capfd: Capture
) -> None:
    gated.settle(SETTLED)
    found = gated.built()
    assert {path: found[path] for path in SETTLED} == SETTLED
    assert gated.outcomes() == {"fixed"}
    assert len(gated.fixes()) == len(SETTLED)
    tree = gated.world.lock.tree
    (gated.world.root / "series/sample.lock").unlink()
    gated.built()
    assert gated.world.lock.tree == tree
    gated.upstream({**OURS, TWICE: BASE[TWICE]})  # where the merge passes, it is the merge again
    capfd.readouterr()
    assert gated.world.run("rebase", "--to", "main") == 0
    out = capfd.readouterr().out
    assert "fix not needed here: " in out
    assert gated.world.read(gated.world.lock.tree)[TWICE] == THEIRS[TWICE]
    assert gated.outcomes() == {"clean", "fixed"}


def test_a_fix_of_it_is_merged_again_where_a_side_moved(gated: Clash) -> None:
    gated.settle(SETTLED)
    gated.built()
    gated.upstream({**OURS, TWICE: OURS[TWICE] + b"more = 1\n"})
    assert gated.world.run("rebase", "--to", "main") == 0
    assert gated.outcomes() == {"fixed", "fix stale"}
    assert gated.world.read(gated.world.lock.tree)[TWICE] == THEIRS[TWICE] + b"more = 1\n"


def test_what_an_earlier_entry_does_to_it_is_named(carrying: Carrying, capfd: Capture) -> None:
    made = clash(carrying, {TWICE: BASE[TWICE]}, {}, {TWICE: OURS[TWICE]}, code=0)
    made.pull(6, {TWICE: THEIRS[TWICE]})
    capfd.readouterr()
    assert carrying.run("add", "6") == 3
    assert f"{TWICE} was changed by the entry 5" in capfd.readouterr().err
    made.settle({TWICE: THEIRS[TWICE]}, "6")
    assert made.built()[TWICE] == THEIRS[TWICE]
    assert (made.outcomes("5"), made.outcomes("6")) == ({"clean"}, {"fixed"})


def test_keep_going_goes_without_it_and_records_it_as_open(gated: Clash, capfd: Capture) -> None:
    gated.pull(6, {PLAIN: plain(b"1") + b"more = 1\n", "vllm/alone.py": plain(b"4")})
    assert gated.world.run("add", "6") == 3
    assert gated.world.run("drop", f"6:{PLAIN}") == 3
    assert gated.world.run("rebase", "--to", "main", "--keep-going") == 3
    five, six = gated.world.lock.entries
    assert all(hunk.open and hunk.outcome == "conflict" for hunk in five.hunks)
    assert five.tree == gated.world.lock.pin.tree
    assert {hunk.outcome for hunk in six.hunks} == {"clean", "not selected"}
    capfd.readouterr()
    gated.settle(SETTLED)
    gated.built()
    assert gated.outcomes() == {"fixed"}


def letters(word: str, first: bytes = b"", last: bytes = b"") -> bytes:
    return added(first, 6, "".join(f"{letter} = 0\n" for letter in word).encode(), last)


def test_what_git_made_is_laid_out_where_its_merge_of_files_would_conflict(
    carrying: Carrying,
) -> None:
    one = b"def f(): ...\n"  # `git merge-file` compares in another way than the merge of trees
    sides = letters("cbdbaaead"), letters("cbdbaed", last=one), letters("cbcdacdbaead", one)
    made = clash(carrying, *({TWICE: side} for side in sides))
    assert carrying.run("resolve", "5") == 0
    _, _, rest = (made.folder() / TWICE).read_bytes().partition(b"\n")
    assert rest == letters("cbcdacdbaed", one, one)


OPENED = [b'TEXT = """\n', *LINES[:9], b'"""\n', *LINES[9:]]


def test_a_choice_that_is_broken_on_its_own_base_is_no_conflict(
    carrying: Carrying, capfd: Capture
) -> None:
    base, ours = added(b"", 0, b""), added(b"", 12, b"more = 1\n")
    clash(
        carrying,
        {TWICE: base, PLAIN: plain(b"1")},
        {TWICE: ours, PLAIN: plain(b"2")},
        {TWICE: b"".join(OPENED), PLAIN: plain(b"3")},
    )
    capfd.readouterr()
    assert carrying.run("report", "--json") == 3
    told = json.loads(capfd.readouterr().out)
    [file] = [file for file in told["entries"][0]["files"] if file["path"] == TWICE]
    hunk = file["hunks"][0]["id"]
    with carrying.series.open("a") as series:
        series.write(f'select = ["{PLAIN}", "{TWICE}:{hunk}"]\n')
    assert carrying.run("build") == 1
    error = capfd.readouterr().err
    assert f"(5): {TWICE}, line 1: does not compile: unterminated triple-quoted" in error
    assert "mend the entry or its fix, or leave the hunk out" in error
