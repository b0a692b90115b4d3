"""What is printed to be typed."""

import subprocess
from pathlib import Path

import pytest

from lanewright.terminal import quoted


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
        "",
    ],
)
def test_a_shell_reads_back_what_was_quoted(name: str) -> None:
    script = f"printf '%s\\0' {quoted(name)}"
    assert script.isprintable()
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout == name.encode("utf-8", "surrogateescape") + b"\0"


def test_plain_names_are_not_quoted() -> None:
    assert quoted(Path("/a/b_c-1.py")) == "/a/b_c-1.py"
    assert quoted("5:vllm/a.py:0123abcd") == "5:vllm/a.py:0123abcd"
