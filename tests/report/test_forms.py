"""The report's four forms say the same, and none lets a name out of its place."""

import json
import re

import pytest

from lanewright.report.marks import code, fenced, plain
from lanewright.workflow import command
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]

PATH = "vllm/engine.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (n, n) for n in range(6))


def edited(number: int, value: int) -> bytes:
    return TEXT.replace(b"return %d\n" % number, b"return %d\n" % value)


@pytest.fixture
def conflicting(carrying: Carrying) -> Clash:
    made = clash(carrying, {PATH: TEXT}, {PATH: edited(2, 3)}, {PATH: edited(2, 22)})
    assert carrying.run("fetch") == 0
    return made


def said(world: Carrying, capfd: Capture, form: str, *, code: int = 3) -> str:
    capfd.readouterr()
    assert world.run("report", "--format", form) == code
    return capfd.readouterr().out


def test_each_form_has_the_outcome_the_cause_the_first_break_and_the_nextcommand(
    conflicting: Clash, capfd: Capture
) -> None:
    world = conflicting.world
    report = json.loads(said(world, capfd, "json"))
    [entry] = report["entries"]
    [hunk] = entry["files"][0]["hunks"]
    parts = [entry["verdict"], hunk["id"], hunk["cause"]["commit"]["id"][:12], entry["next"][0]]
    for form in ("text", "markdown", "github"):
        text = said(world, capfd, form)
        assert [part for part in parts if part not in text] == [], form
        assert "stops merging at upstream's" in text


def test_the_text_reads_so(conflicting: Clash, capfd: Capture) -> None:
    text = said(conflicting.world, capfd, "text")
    guilty = re.findall(r"stops merging at upstream's (\w{12})", text)[0]
    told = text.partition("\n#5: ")[2].partition("\n\n")[0]
    hunk, *blobs = re.findall(r"^    (\w{10})  |(?:base|lane|#5) (\w{12})", told, re.MULTILINE)
    base, ours, theirs = (blob for _, blob in blobs)
    assert told.splitlines() == [
        "1 hunk in 1 file: 1 conflict",
        f"  stops merging at upstream's {guilty} (2000-01-01) 'a change'; 1 commit of upstream's tried",
        f"  {PATH}",
        f"    {hunk[0]}  conflict in f_2",
        f"                upstream's {guilty} (2000-01-01) 'a change' changed these lines",
        "                base, line 10",
        "                  |     return 2",
        "                lane sample, line 10",
        "                  |     return 3",
        "                #5",
        "                  |     return 22",
        f"                blobs: base {base}, lane {ours}, #5 {theirs}",
        "  not carried until a person settles its conflicts",
        "  next: lanewright resolve 5",
    ]


def test_annotations_stand_at_the_entrys_line(conflicting: Clash, capfd: Capture) -> None:
    lines = said(conflicting.world, capfd, "github").splitlines()
    text = conflicting.world.series.read_text().splitlines()
    number = text.index("[[entry]]") + 1
    assert lines[1].startswith(
        f"::error file=series/sample.toml,line={number},title=#5%3A conflict::"
    )
    assert lines[0].startswith("::error file=series/sample.toml,line=1,title=lane sample on git%3A")
    assert all(line.startswith("::") for line in lines)


def test_a_clean_lane_has_one_notice(carrying: Carrying, capfd: Capture) -> None:
    clash(carrying, {PATH: TEXT}, {"vllm/other.py": b""}, {PATH: edited(2, 22)}, code=0)
    [line] = said(carrying, capfd, "github", code=0).splitlines()
    assert line.startswith("::notice file=series/sample.toml,line=1,")


def test_nothing_of_a_message_becomes_a_workflowcommand() -> None:
    line = command("error", "series/a,b:c.toml", 1, "x\n::add-mask::y", "a\r\n::error::b%0A")
    assert "\n" not in line
    assert "\r" not in line
    assert line.split("::")[1].startswith("error file=series/a%2Cb%3Ac.toml,")
    assert line.endswith(r"a\r%0A::error::b%250A")


@pytest.mark.parametrize(
    "text", ["a|b", "<script>", "[x](http://e)", "@user", "`code`", "**b**", "a\n\n# b", "&lt;"]
)
def test_nothing_of_a_title_becomes_markdown(text: str) -> None:
    made = plain(text)
    assert "\n" not in made
    bare = re.sub(r"\\.", "", made)
    assert not set("|<>[]*`#&") & set(bare)
    assert "@user" not in made
    assert "://" not in made


def test_ticks_in_code_do_not_end_it() -> None:
    assert code("a`b``c") == "``` a`b``c ```"
    assert fenced(["x", "````", "y"])[0] == "`````"


def test_a_hostile_subject_stays_one_line(carrying: Carrying, capfd: Capture) -> None:
    made = clash(carrying, {PATH: TEXT}, {PATH: edited(2, 3)}, {PATH: edited(2, 22)})
    from lanewright.store.git import Repository  # noqa: PLC0415
    from lanewright.store.objects import CommitId, tree_of  # noqa: PLC0415
    from lanewright.store.write import commit, set_ref  # noqa: PLC0415

    upstream = Repository(carrying.upstream)
    pin = CommitId(carrying.series.read_text().partition("git:")[2][:40])
    subject = "| <b>x</b> ::error::y @all \x1b[31m"
    guilty = commit(upstream, tree_of(upstream, pin), subject + "\n", [made.before])
    set_ref(upstream, "refs/heads/main", guilty)
    made.stand_on(guilty)
    assert carrying.run("fetch") == 0
    text = said(carrying, capfd, "text")
    assert "\x1b" not in text
    markdown = said(carrying, capfd, "markdown")
    assert "<b>" not in markdown
    assert "@all" not in markdown
    assert all(line.startswith("::") for line in said(carrying, capfd, "github").splitlines())
