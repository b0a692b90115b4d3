"""Text of others on a terminal: nothing in it moves a cursor, or hides from the reader."""

import json

import pytest

from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH = "vllm/one.py"
BASE = b"a = 1\nb = 1\nc = 1\n"
ODD = "a = 1\nb = 3  # \x1b[2J\u202e\x9b\u200b\tend\nc = 1\n"
ESCAPED = "\\x1b[2J\\u202e\\x9b\\u200b\tend"
RAW = "\x1b\u202e\x9b\u200b"

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def made(carrying: Carrying, capfd: Capture) -> Clash:
    """A pull request whose added line has them, which a lane may carry by name."""
    made = clash(carrying, {PATH: BASE}, {}, {PATH: ODD.encode()}, code=1)
    capfd.readouterr()
    return made


def told(made: Clash, capfd: Capture, *words: str, code: int = 0) -> str:
    """What a command prints; nothing of it is raw."""
    assert made.world.run(*words) == code
    captured = capfd.readouterr()
    text = captured.out + captured.err
    assert not set(RAW) & set(text)
    return text


def test_show_writes_them_out_carried_or_not(made: Clash, capfd: Capture) -> None:
    assert ESCAPED in told(made, capfd, "show", f"5:{PATH}")
    told(made, capfd, "add", "5", "--allow", f"bidi:{PATH}")
    assert ESCAPED in told(made, capfd, "show", f"5:{PATH}")
    assert ESCAPED in told(made, capfd, "blame", PATH)
    assert made.world.run("blame", PATH, "--json") == 0
    lines = json.loads(capfd.readouterr().out)
    assert [each["text"] for each in lines] == ODD.splitlines()


def test_status_and_update_write_them_out(made: Clash, capfd: Capture) -> None:
    told(made, capfd, "add", "5", "--allow", f"bidi:{PATH}")
    made.pull(5, {PATH: ODD.replace("b = 3", "b = 4").encode()})
    assert made.world.run("fetch") == 0
    capfd.readouterr()
    assert ESCAPED in told(made, capfd, "status")
    assert ESCAPED in told(made, capfd, "add", "5", "--update")


def test_a_name_in_an_error_is_written_out(made: Clash, capfd: Capture) -> None:
    assert "\\x1b[2J" in told(made, capfd, "list", "sample", "\x1b[2J", code=1)
    told(made, capfd, "add", "5", "--allow", f"bidi:{PATH}")
    assert "\\x1b[2J" in told(made, capfd, "blame", "vllm/\x1b[2J.py", code=1)
