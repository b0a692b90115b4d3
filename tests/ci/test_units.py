"""systemd's own reader of the units."""

import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).parents[2] / "ci" / "systemd"


def verify(*units: Path) -> tuple[int, str]:
    ended = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not on PATH")
def test_the_units_are_read_without_a_word(tmp_path: Path) -> None:
    units = sorted(UNITS.iterdir())
    assert verify(*units) == (0, "")
    for unit in units:
        (tmp_path / unit.name).write_text(unit.read_text().replace("Persistent=", "Persistant="))
    assert "Persistant" in verify(*sorted(tmp_path.iterdir()))[1]
