"""A docker daemon of the test's own: storage, socket and processes apart from the machine's."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

SECONDS = 60


@contextmanager
def daemon(folder: Path) -> Iterator[str]:
    """Run it while the block runs; what ``DOCKER_HOST`` is to be."""
    if os.geteuid():
        pytest.skip("a docker daemon of the test's own takes root")
    for name in ("dockerd", "docker"):
        if not shutil.which(name):
            pytest.skip(f"{name} is not installed (Debian: docker.io)")
    # A socket's path may have no more than 108 characters.
    with TemporaryDirectory(prefix="lw", dir="/run") as short:
        host = f"unix://{short}/socket"
        command = ["dockerd", f"--host={host}", f"--pidfile={short}/pid"]
        command += [f"--data-root={folder / 'data'}", f"--exec-root={short}/exec"]
        command += ["--bridge=none", "--iptables=false", "--ip6tables=false"]
        with (folder / "dockerd.log").open("wb") as log:
            running = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait(host, running, folder / "dockerd.log")
            yield host
        finally:
            running.terminate()
            running.wait()


def _wait(host: str, running: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    environ = {**os.environ, "DOCKER_HOST": host}
    while subprocess.run(
        ["docker", "info"], env=environ, capture_output=True, check=False
    ).returncode:
        if running.poll() is not None or time.monotonic() > deadline:
            last = log.read_text(errors="replace").splitlines()[-1:]
            pytest.skip(f"dockerd does not run here: {''.join(last)[-200:]}")
        time.sleep(0.2)
