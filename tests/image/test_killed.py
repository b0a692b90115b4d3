"""What becomes of a container whose starter is killed.

The program in podman's place keeps to the rule of the kernel: the first process of a container gets
no SIGTERM that it has no handler for, all others end with it, and they outlive podman itself.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.image.container.boxed import FIRST, INSIDE

TERM = 1 << (signal.SIGTERM - 1)
PODMAN = f"""\
#!{sys.executable}
import os, signal, subprocess, sys
if sys.argv[1] == "run":
    words = sys.argv[sys.argv.index("its/image") + 1:]
    first = subprocess.Popen([{sys.executable!r}, *words], start_new_session=True)

    def handed_on(number, frame):
        with open(f"/proc/{{first.pid}}/status") as status:
            (caught,) = [line.split()[1] for line in status if line.startswith("SigCgt:")]
        if int(caught, 16) & {TERM}:
            first.send_signal(number)

    signal.signal(signal.SIGTERM, handed_on)
    status = first.wait()
    try:
        os.killpg(first.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    sys.exit(status if status >= 0 else 128 - status)
"""
MAKER = """\
import os, sys, time
from pathlib import Path

place = Path(sys.argv[1]).with_name("pid")
place.write_text(str(os.getpid()))
time.sleep(60)
"""
STARTER = """\
import sys, time
from pathlib import Path
from lanewright.image.container.engine import engine_here
from lanewright.image.container.image_env import ImageEnv
from lanewright.queue.series_run import RunSpec

maker, place = Path(sys.argv[1]), Path(sys.argv[2])
env = ImageEnv(
    python=Path("python3"), site=place, bytecode=place, engine=engine_here("podman"),
    image="its/image", image_id="sha256:1", packages=place, version="", run=RunSpec(),
)
words = [str(maker), str(place / "recipe")]
with env.running("model", words, environ={}, log=place / "log"):
    time.sleep(60)
"""
# Less than the guard's grace, after which podman is killed and its container is not.
SECONDS = 8.0


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A maker's process whose starter was killed as soon as it ran."""
    for name in ("bin", "maker"):
        (tmp_path / name).mkdir()
    podman, maker = tmp_path / "bin" / "podman", tmp_path / "maker" / "make.py"
    podman.write_text(PODMAN)
    podman.chmod(0o755)
    maker.write_text(MAKER)
    monkeypatch.setenv("PATH", f"{podman.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    noted = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", STARTER, str(maker), str(tmp_path)]) as starter:
        deadline = time.monotonic() + 20
        while not (noted.exists() and noted.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        starter.kill()
    process = int(noted.read_text())
    yield process
    if runs(process):
        os.kill(process, signal.SIGKILL)


def runs(process: int) -> bool:
    try:
        state = Path("/proc", str(process), "stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


def test_a_maker_ends_with_its_starter(killed: int) -> None:
    deadline = time.monotonic() + SECONDS
    while runs(killed) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(killed)


@pytest.mark.parametrize(
    ("script", "status"),
    [("print(*sys.argv[1:])", 0), ("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 137)],
)
def test_it_ends_as_its_script_does(tmp_path: Path, script: str, status: int) -> None:
    file = tmp_path / "it.py"
    file.write_text(f"import os, sys\n{script}\n")
    command = [sys.executable, str(INSIDE / FIRST), str(file), "one", "two"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert ended.stdout == ("" if status else "one two\n")
