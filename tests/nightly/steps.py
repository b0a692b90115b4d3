"""A project whose nights are real, and whose steps are scripts: each ends at once, and as it is told."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.places import Places
from tests.conftest import SERIES, UPSTREAM, World
from tests.process import started

ROOT = Path(__file__).parents[2]
STEP = """\
import sys
from pathlib import Path

_, root, *words = sys.argv[1:]
print({"report": "{}", "status": "[]"}.get(words[0], ""))
script = Path(root, "steps", f"{words[0]}.py")
if script.exists():
    exec(compile(script.read_text(), script, "exec"))
"""
NIGHT = f"""\
import sys
sys.path[:0] = {[str(ROOT / name) for name in ("tools", "overlay", "")]!r}
from lanewright.__main__ import main
main()
"""
Quick = Callable[..., World]


@pytest.fixture
def quick(tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch) -> Quick:
    """Lay such a project: scripts by the first word of their step's command."""
    stand_in = tmp_path / "stand_in" / "lanewright"
    stand_in.mkdir(parents=True)
    (stand_in / "__init__.py").touch()
    (stand_in / "__main__.py").write_text(STEP)
    monkeypatch.setenv("PYTHONPATH", str(stand_in.parent))

    def laid(**steps: str) -> World:
        root = tmp_path / "project"
        for name in ("series", "steps"):
            (root / name).mkdir(parents=True)
        (root / "upstream.toml").write_text(UPSTREAM)
        (root / "series/sample.toml").write_text(SERIES.replace("[model]", "[engine]\n\n[model]"))
        for name, script in steps.items():
            (root / f"steps/{name}.py").write_text(script)
        return World(root, places)

    return laid


def spent(world: World, *words: str, nohup: bool = False) -> "subprocess.Popen[str]":
    """Start a night as a process of its own, whose steps are those scripts."""
    command = [sys.executable, "-c", NIGHT, "-C", str(world.root), "nightly", *words]
    return started(command, dict(os.environ), nohup=nohup)


def asked_for(world: World, **keys: object) -> None:
    """Have ``[nightly]`` in upstream.toml."""
    lines = "".join(f"{key} = {value!r}\n" for key, value in keys.items())
    with (world.root / "upstream.toml").open("a") as upstream:
        upstream.write(f"\n[nightly]\n{lines}")
