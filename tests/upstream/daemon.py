"""A git server on this machine's loopback, for tests of what goes over a network."""

import os
import socket
import socketserver
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from lanewright.guarded import guarded

ALLOWED = ("uploadpack.allowFilter=true", "uploadpack.allowAnySHA1InWant=true")
PATIENCE = 30.0


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """Serve every repository below ``folder`` while the block runs; gives the base url."""
    port = port or free_port()
    settings = [part for setting in ALLOWED for part in ("-c", setting)]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_CONFIG")}
    daemon = [
        *("git", *settings, "daemon", "--export-all", "--reuseaddr", "--informative-errors"),
        *("--listen=127.0.0.1", f"--port={port}", f"--base-path={folder}", str(folder)),
    ]
    process = subprocess.Popen(
        guarded(daemon),  # so that it ends with the tests, however they end
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=clean | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
        start_new_session=True,
    )
    with process:
        _wait_until_it_listens(process, port)
        yield f"git://127.0.0.1:{port}"


def _wait_until_it_listens(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, "git daemon ended"
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.02)
    raise TimeoutError(port)


@contextmanager
def counting(port: int) -> Iterator[list[object]]:
    """Listen where a server was; gives who connects, and hangs up on each."""
    connected: list[object] = []

    class Handler(socketserver.BaseRequestHandler):
        def setup(self) -> None:
            connected.append(self.client_address)

    class Server(socketserver.TCPServer):
        allow_reuse_address = True

    with Server(("127.0.0.1", port), Handler) as server:
        loop = Thread(target=server.serve_forever, args=(0.02,))
        loop.start()
        try:
            yield connected
        finally:
            server.shutdown()
            loop.join()
