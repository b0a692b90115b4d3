"""``ci/nightly`` with the real nox, whose session ends as lanewright's command would."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "ci" / "nightly"
NOXFILE = """\
import os
import nox

@nox.session(venv_backend="none")
def nightly(session):
    session.run(
        "sh", "-c", 'echo "a night of $*"; echo talk >&2; exit "$ENDING"', "sh",
        *session.posargs, external=True, stderr=None,
    )
"""

pytestmark = pytest.mark.skipif(not shutil.which("nox"), reason="nox is not on PATH")


def night(root: Path, *lanes: str, ending: int = 0, gpu: str = "") -> tuple[int, str, str]:
    """Run the script in a project of its own: its exit code, and what it printed and said."""
    (root / "ci").mkdir(parents=True)
    shutil.copy(SCRIPT, root / "ci" / "nightly")
    (root / "noxfile.py").write_text(NOXFILE)
    (root / "bin").mkdir()
    smi = root / "bin" / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\n{f'echo {gpu!r}' if gpu else 'exit 9'}\n")
    smi.chmod(0o755)
    ended = subprocess.run(
        [root / "ci" / "nightly", *lanes],
        env={
            **os.environ,
            "PATH": f"{root / 'bin'}:{os.environ['PATH']}",
            "ENDING": str(ending),
        },
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("lanes", [(), ("one", "two"), ("--resume", "one")])
@pytest.mark.parametrize("gpu", ["", "NVIDIA GB300"])
def test_it_hands_on_what_it_is_given(tmp_path: Path, lanes: tuple[str, ...], gpu: str) -> None:
    code, out, err = night(tmp_path, *lanes, gpu=gpu)
    assert code == 0
    assert out == f"a night of {' '.join(lanes)}\n"
    assert "talk" in err


@pytest.mark.parametrize("ending", [1, 3, 5, 6, 130])
def test_it_ends_as_the_night_does(tmp_path: Path, ending: int) -> None:
    assert night(tmp_path, ending=ending)[0] == ending


def test_without_its_session_it_ends_with_1(tmp_path: Path) -> None:
    assert night(tmp_path, gpu="NVIDIA GB300", ending=1)[0] == 1
    (tmp_path / "noxfile.py").write_text("")
    ended = subprocess.run([tmp_path / "ci" / "nightly"], capture_output=True, check=False)
    assert ended.returncode == 1
