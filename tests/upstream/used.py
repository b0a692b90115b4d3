"""A test in a lane's project that names modules, so that an entry which only adds them is used."""

from collections.abc import Iterable
from pathlib import Path

from lanewright.queue.closure.names import module_of

TEST = "tests/test_carried.py"
PR_FILE = """\
number = {number}
brings = "What a test made up"
tests = ["{test}"]

[sources]
brings = "a test"
"""


def name_in_a_test(root: Path, paths: Iterable[str], *numbers: int) -> None:
    """Let a test name these modules, and these pull requests name the test."""
    file = root / TEST
    file.parent.mkdir(exist_ok=True)
    with file.open("a") as text:
        text.writelines(f"{module_of(path)!r}\n" for path in paths if path.endswith(".py"))
    for number in numbers:
        folder = root / f"patches/{number}"
        folder.mkdir(exist_ok=True)
        (folder / "pr.toml").write_text(PR_FILE.format(number=number, test=TEST))


def naming_the_test(patch: bytes) -> bytes:
    """An own patch whose header names that test."""
    return patch.replace(b"Forwarded:", b"Tests: %s\nForwarded:" % TEST.encode(), 1)
