"""`show` of a pull request that is not carried tells what would be refused of it."""

import json

import pytest

from tests.queue.cases.hostile import (
    BASE,
    FILE,
    GOOD,
    LINES,
    RLO,
    Capture,
    link,
    push,
    with_submodule,
)
from tests.queue.cases.lane import Changes, Lane

BAD: Changes = {
    "vllm/l": link("a"),
    "vllm/X.py": b"x = 1\n",
    FILE: LINES.replace(b"line_2 = 0", b"line_2 = 0  # " + RLO),
}


@pytest.fixture
def lane(lane: Lane) -> Lane:
    """A lane that carries nothing yet, and a pull request that breaks some rules."""
    lane.start(BASE)
    push(lane, BAD)
    with_submodule(lane)
    return lane


@pytest.mark.parametrize("locked", ["locked", ""])
def test_each_hunk_says_what_keeps_it_out(locked: str, lane: Lane, capfd: Capture) -> None:
    if locked:
        assert lane.run("build") == 0
    capfd.readouterr()
    assert lane.run("show", "1") == 0
    said = capfd.readouterr()
    lines = {line.split(":")[0].strip(): line for line in said.out.splitlines()[1:]}
    assert lines["vllm/l"].endswith("whole  refused: link: a symlink to 'a'")
    assert lines["vllm/X.py"].endswith(
        "refused: twin: it differs only in case or Unicode form from vllm/x.py"
    )
    assert lines[FILE].endswith("refused: bidi: it adds U+202E right-to-left override")
    assert "refused" not in lines[GOOD]
    assert "#1 changes the submodule vllm/sub, which no lane can have" in said.err


def test_a_hunks_text_shows_what_nobody_sees(lane: Lane, capfd: Capture) -> None:
    assert lane.run("show", f"1:{FILE}") == 0
    out = capfd.readouterr().out
    assert "+line_2 = 0  # \\u202e\n" in out
    assert "\u202e" not in out


def test_as_data(lane: Lane, capfd: Capture) -> None:
    assert lane.run("show", "--json", "1") == 0
    (told,) = json.loads(capfd.readouterr().out)
    found = {each["rule"]: each for each in told["refused"]}
    assert {rule: each["path"] for rule, each in found.items()} == {
        "link": "vllm/l",
        "twin": "vllm/X.py",
        "bidi": FILE,
        "submodule": "vllm/sub",
    }
    assert (found["bidi"]["line"], found["submodule"]["final"]) == (3, True)
    assert lane.run("show", "--json", f"1:{GOOD}") == 0
    (told,) = json.loads(capfd.readouterr().out)
    assert [each["rule"] for each in told["refused"]] == ["submodule"]
