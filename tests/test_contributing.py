"""CONTRIBUTING.md says where the long tier is."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
TEXT = TESTS.with_name("CONTRIBUTING.md").read_text()


def test_every_file_of_the_long_tier_is_named_and_no_other() -> None:
    named = {
        f"{folder}/{file}"
        for folder, files in re.findall(r"^\| `tests/([a-z/]+)` \| (.*) \|$", TEXT, re.MULTILINE)
        for file in re.findall(r"`(test_\w+\.py)`", files)
    }
    marked = {
        str(file.relative_to(TESTS))
        for file in TESTS.glob("*/**/test_*.py")
        if "mark.engine_full" in file.read_text()
    }
    assert marked
    assert named == marked
