"""``ci/lint`` finds what is planted, wherever it lies in the project."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOW = """\
on: workflow_dispatch
jobs:
  a:
    runs-on: [self-hosted, gb300]
    steps:
      - run: {run}
"""


def lint(root: Path, files: dict[str, str]) -> tuple[int, str]:
    """Run the script in a project of these files: its exit code and what it printed."""
    for path in ("ci/lint", ".github/actionlint.yaml"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, root / path)
    for path, text in {".ci/run": "#!/bin/sh\ntrue\n", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    ended = subprocess.run(
        [root / "ci" / "lint"],
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


PLANTED = [
    ("hadolint", "a/deep/Containerfile.base", "FROM debian\n", "DL3006"),
    (
        "actionlint",
        ".github/workflows/a.yml",
        WORKFLOW.format(run='"${{ nothing.here }}"'),
        "nothing",
    ),
    ("shellcheck", "ci/nightly", "#!/usr/bin/env bash\nrm $1\n", "SC2086"),
    ("shellcheck", "tests/a.sh", "cd /tmp\n", "SC2148"),
]


@pytest.mark.parametrize(("linter", "path", "text", "rule"), PLANTED)
def test_what_is_planted_is_found(
    tmp_path: Path, linter: str, path: str, text: str, rule: str
) -> None:
    if not shutil.which(linter):
        pytest.skip(f"{linter} is not on PATH")
    (tmp_path / ".nox").mkdir()
    (tmp_path / ".nox" / "Containerfile").write_text("FROM debian\n")
    code, told = lint(tmp_path, {path: text})
    assert code == 1
    assert path in told
    assert rule in told
    assert ".nox" not in told


def test_what_is_clean_passes(tmp_path: Path) -> None:
    missing = [each for each in ("hadolint", "actionlint", "shellcheck") if not shutil.which(each)]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")
    files = {
        "Containerfile": "FROM scratch\n",
        ".github/workflows/a.yml": WORKFLOW.format(run="ls"),
    }
    code, told = lint(tmp_path, files)
    assert code == 0, told
