"""A registry on this machine: the reference implementation, over a folder of the test's own."""

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.image.programs import program

CONFIG = """\
version: 0.1
storage:
  filesystem:
    rootdirectory: {root}
  delete:
    enabled: true
http:
  addr: 127.0.0.1:{port}
"""
SECONDS = 20


@contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Run it while the block runs; its address, such as ``localhost:5000``."""
    serving = program("docker-registry")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = folder / "registry.yml"
    config.write_text(CONFIG.format(root=folder / "registry", port=port))
    with (folder / "registry.log").open("wb") as log:
        running = subprocess.Popen([serving, "serve", str(config)], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + SECONDS
        while not answers(port):
            assert time.monotonic() < deadline, (folder / "registry.log").read_text()
            time.sleep(0.05)
        yield f"localhost:{port}"
    finally:
        running.terminate()
        running.wait()


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=1):
            return True
    except OSError:
        return False
