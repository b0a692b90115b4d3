"""Without a package index: what a night stopped is started again, and nights go on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANEWRIGHT = """\
#!/bin/sh
echo "lanewright $*"
exit "$ENDING"
"""
KEPT = "pip installs nothing: goes on with the lanewright that is there"

pytestmark = pytest.mark.skipif(not shutil.which("nox"), reason="nox is not on PATH")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What nights are called by, and a package that pip could install if an index had its back end."""
    for name in ("noxfile.py", "pyproject.toml", "ci/nightly"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def keep(project: Path) -> None:
    """Leave behind what an earlier night installed."""
    program = project / ".nox/nightly/bin/lanewright"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(LANEWRIGHT)
    program.chmod(0o755)


def night(project: Path, *words: str, ending: int = 0) -> tuple[int, str, str]:
    """Call what timers call: exit code, what it printed, what it said."""
    ended = subprocess.run(
        [project / "ci/nightly", *words],
        env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "ENDING": str(ending)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("ending", [0, 1])
def test_what_was_stopped_is_started_by_what_the_night_ran(project: Path, ending: int) -> None:
    keep(project)
    code, out, err = night(project, "--restore", ending=ending)
    assert (code, out, err) == (ending, "lanewright nightly --restore\n", "")


def test_where_the_python_of_that_is_gone_nox_makes_another(project: Path) -> None:
    keep(project)
    program = project / ".nox/nightly/bin/lanewright"
    program.write_text(LANEWRIGHT.replace("/bin/sh", f"{project}/gone/python"))
    _, _, err = night(project, "--restore")
    assert "nox > Running session nightly" in err


def test_nights_go_on_with_what_an_earlier_one_installed(project: Path) -> None:
    code, out, err = night(project, "some")
    assert (code, out) == (1, "")
    assert KEPT not in err
    keep(project)
    code, out, err = night(project, "some", ending=6)
    assert code == 6
    assert "lanewright nightly some" in out
    assert KEPT in err
