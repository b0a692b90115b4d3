"""Which lanes a night of ``ci/nightly`` is of, by the real command; its steps are scripts that end at once."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.ci.test_nightly import SCRIPT
from tests.nightly.nights import add_lane, night
from tests.nightly.steps import NIGHT, Quick, quick

__all__ = ["quick"]

ROOT = Path(__file__).parents[2]
NOXFILE = f"""\
import sys
import nox

@nox.session(venv_backend="none")
def nightly(session):
    session.run(sys.executable, "-c", {NIGHT!r}, "nightly", *session.posargs, external=True)
"""
SMI = """\
#!/bin/sh
case "$*" in
*--query-gpu=name*) printf '%s\\n' {names} ;;
*) exit 9 ;;
esac
"""
LANES = 'lanes = ["two", "sample"]\n'
GPUS = '[nightly.gpus]\nGB200 = ["two"]\nGB300 = ["one", "two"]\n'
OURS = tomllib.loads((ROOT / "upstream.toml").read_text())

pytestmark = pytest.mark.skipif(not shutil.which("nox"), reason="nox is not on PATH")


@pytest.mark.parametrize(
    ("upstream", "names", "given", "of"),
    [
        ("", "'NVIDIA GB300'", (), ["sample"]),
        (LANES, "", (), ["two", "sample"]),
        (LANES + GPUS, "'NVIDIA GB300'", (), ["two", "sample"]),
        (GPUS, "'NVIDIA GB300'", (), ["one", "two"]),
        (GPUS, "'NVIDIA GB200' 'NVIDIA GB200'", (), ["two"]),
        (GPUS, "'NVIDIA H200'", (), ["sample"]),
        (GPUS, "", (), ["sample"]),
        (LANES + GPUS, "'NVIDIA GB300'", ("one",), ["one"]),
    ],
)
def test_one_rule_says_which_lanes(
    quick: Quick,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    upstream: str,
    names: str,
    given: tuple[str, ...],
    of: list[str],
) -> None:
    world = quick()
    for lane in ("one", "two"):
        add_lane(world, lane)
    with (world.root / "upstream.toml").open("a") as file:
        file.write(f"\n[nightly]\n{upstream}")
    (world.root / "ci").mkdir()
    shutil.copy(SCRIPT, world.root / "ci")
    (world.root / "noxfile.py").write_text(NOXFILE)
    (tmp_path / "bin").mkdir()
    if names:
        smi = tmp_path / "bin" / "nvidia-smi"
        smi.write_text(SMI.format(names=names))
        smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    for command in (["ci/nightly"], [sys.executable, "-c", NIGHT, "nightly"]):
        subprocess.run([*command, *given], cwd=world.root, check=True, timeout=60)
        assert [*dict.fromkeys(step["lane"] for step in night(world)["steps"])] == of


def test_ours_are_of_the_default_lane_and_on_a_gb300_of_its_own() -> None:
    assert OURS["default_lane"] == "cpu-tiny"
    assert OURS["nightly"] == {"gpus": {"GB300": ["gb300-twobank"]}}
