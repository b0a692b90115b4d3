"""``ci/nightly`` with the real nox, whose sessions end as lanewright's commands would."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "ci" / "nightly"
NOXFILE = """\
import os
import nox

def ends(session, name):
    lane = session.posargs[0] if session.posargs else ""
    session.run(
        "sh", "-c", f'echo "{name} of {lane}"; echo talk >&2; exit "$1"', "sh",
        os.environ.get(f"{name}_{lane}".replace("-", "_"), "0"), external=True, stderr=None,
    )

@nox.session(venv_backend="none")
def rebase(session): ends(session, "rebase")

@nox.session(venv_backend="none")
def report(session): ends(session, "report")

@nox.session(name="build-image", venv_backend="none")
def build_image(session): ends(session, "build")
"""

pytestmark = pytest.mark.skipif(not shutil.which("nox"), reason="nox is not on PATH")


def night(
    root: Path, *lanes: str, ending: Mapping[str, object] | None = None, gpu: str = ""
) -> tuple[int, str, str]:
    """Run the script in a project of its own: its exit code, its summary and its stderr."""
    (root / "ci").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "ci" / "nightly")
    (root / "noxfile.py").write_text(NOXFILE)
    (root / "bin").mkdir()
    smi = root / "bin" / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\n{f'echo {gpu!r}' if gpu else 'exit 9'}\n")
    smi.chmod(0o755)
    page = root / "page.md"
    ended = subprocess.run(
        [root / "ci" / "nightly", *lanes],
        env={
            **os.environ,
            "PATH": f"{root / 'bin'}:{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(page),
            **{name: str(status) for name, status in (ending or {}).items()},
        },
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, page.read_text(), ended.stderr


def row(page: str, session: str) -> str:
    """What the summary says of a session."""
    [found] = [line for line in page.splitlines() if line.startswith(f"| `{session}` |")]
    return found.split("|")[2].strip()


def test_a_quiet_night_passes_and_its_summary_has_the_report(tmp_path: Path) -> None:
    code, page, talk = night(tmp_path)
    assert code == 0
    assert row(page, "rebase -- --check") == "passed"
    assert row(page, "build-image -- cpu-tiny") == "passed"
    assert "report of cpu-tiny\n" in page
    assert "talk" not in page
    assert "talk" in talk


def test_drift_is_told_and_is_no_failure(tmp_path: Path) -> None:
    code, page, _ = night(tmp_path, gpu="NVIDIA GB300", ending={"rebase___check": 4})
    assert row(page, "rebase -- --check") == "drift"
    assert row(page, "build-image -- gb300-twobank") == "passed"
    assert code == 0


def test_a_lane_that_fails_hides_no_other(tmp_path: Path) -> None:
    ending = {"rebase___check": 1, "report_one": 3, "build_one": 5, "build_two": 4}
    code, page, _ = night(tmp_path, "one", "two", "three", ending=ending, gpu="NVIDIA GB300")
    assert row(page, "report -- one --format markdown") == "**failed** with 3"
    assert row(page, "build-image -- one") == "**failed** with 5"
    assert row(page, "build-image -- two") == "**failed** with 4", "a stale lock is no drift"
    assert row(page, "build-image -- three") == "passed"
    assert code == 5


@pytest.mark.parametrize(
    ("lanes", "other", "expected"),
    [("one two", "0", 6), ("one two", "1", 1), ("two one", "no number", 2)],
)
def test_hardware_that_is_not_here_is_neither_passed_nor_failed(
    tmp_path: Path, lanes: str, other: str, expected: int
) -> None:
    ending = {"build_one": "6", "build_two": other}
    code, page, _ = night(tmp_path, *lanes.split(), ending=ending)
    assert row(page, "build-image -- one").startswith("**not run**")
    assert code == expected
