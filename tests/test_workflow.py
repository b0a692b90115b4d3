"""What GitHub's runner takes for a command, and what it does not."""

import json
import re

import pytest

from lanewright.terminal import emit, emit_json, say, say_command
from lanewright.workflow import command, harmless

Capture = pytest.CaptureFixture[str]

HOSTILE = [
    "::error::x",
    "  ::set-output name=a::b",
    "fine\n\t::add-mask::x",
    "\u3000::stop-commands::x",
    "\x1c::error::x",
    "told: ##[error]x",
    "##[add-path]/x",
    "a\r::error::x",
    "####[group]",
]


def read_by_a_runner(text: str) -> list[str]:
    """Lines in which a runner finds a command, as its sources have it."""
    lines = re.split("[\r\n]", text)
    return [line for line in lines if line.lstrip().startswith("::") or "##[" in line]


@pytest.fixture
def on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")


@pytest.mark.usefixtures("on_github")
@pytest.mark.parametrize("text", HOSTILE)
def test_no_word_of_others_is_a_command(text: str, capfd: Capture) -> None:
    assert read_by_a_runner(text)
    say(text)
    emit(text)
    emit_json({text: text})
    out, err = capfd.readouterr()
    assert read_by_a_runner(out) == []
    assert read_by_a_runner(err) == []
    assert json.loads(out[out.index("{") :]) == {text: text}


@pytest.mark.usefixtures("on_github")
def test_what_is_broken_is_seen(capfd: Capture) -> None:
    say("a: ##[error]b\n  ::error::c :: d")
    assert capfd.readouterr().err == "a: #\\#[error]b\n  \\::error::c :: d\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_elsewhere_nothing_changes(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.usefixtures("on_github")
def test_our_own_are_commands(capfd: Capture) -> None:
    line = command("warning", "a.py", 3, "50%, or: more", "first\nsecond: 100%\x1b")
    say_command(line)
    told = "::warning file=a.py,line=3,title=50%25%2C or%3A more::first%0Asecond: 100%25\\x1b\n"
    assert capfd.readouterr().err == told
