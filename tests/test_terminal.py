"""What is printed to be typed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.invisible import visible
from lanewright.terminal import for_shell, quoted

# Passes for a letter, and for a name.
FILLER = "\u3164"

# Fillers, a blank cell, directions, no width, variation selectors, joiners, a blank note.
UNSEEN = [
    *("a\u3164b", "a\u2800b", "a\u115fb", "a\uffa0b", "a\u202eb", "a\u2066b", "a\u200fb"),
    *("a\u200bb", "a\ufeffb", "a\u2060b", "a\u00adb", "a\ufe0fb", "a\U000e0100b"),
    *("a\u034fb", "a\u180bb", "a\u17b4b", "a\U0001d159b", "a\U00016fe4b", "a\U000e0041b"),
]


@pytest.mark.parametrize(
    "name",
    [
        "vllm/a.py",
        "vllm/a b.py",
        "it's",
        "$(id)",
        "-e",
        "a\nb",
        "\x1b[2J",
        "caf\u00e9",
        "\udce9\\'0",
        "a\xa0b",
        *UNSEEN,
        "",
        FILLER,
        "/models/\u115f",
        "a\u034fb",
        "\uffa0",
        "\u17b4",
        "a\ufe0f\ufe0f",
    ],
)
def test_a_shell_reads_back_what_was_quoted(name: str) -> None:
    script = f"printf '%s\\0' {quoted(name)}"
    assert script.isprintable()
    assert visible(script) == script
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout == name.encode("utf-8", "surrogateescape") + b"\0"


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_not_seen_is_written_out(name: str) -> None:
    assert quoted(name).isascii()


def test_plain_names_are_not_quoted() -> None:
    assert quoted(Path("/a/b_c-1.py")) == "/a/b_c-1.py"
    assert quoted("5:vllm/a.py:0123abcd") == "5:vllm/a.py:0123abcd"
    assert quoted("café") == "'café'"


def test_a_shells_own_has_its_characters_and_a_terminal_shows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = f"it's {FILLER}"
    leader, follower = os.openpty()
    with os.fdopen(leader), os.fdopen(follower, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert for_shell(value) == quoted(value)
        assert for_shell("plain") == "plain"
    monkeypatch.undo()
    done = subprocess.run(
        ["sh", "-c", f"printf %s {for_shell(value)}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == value
