"""TCP ports of this machine's loopback address."""

import socket

from lanewright.errors import LanewrightError

HOST = "127.0.0.1"


def usable_port(port: int | None) -> int:
    """Find a free port, or check that a given one is.

    Raises:
        LanewrightError: The given port is taken or not allowed.
    """
    with socket.socket() as listener:
        # A server sets it too: without it a port counts as taken for a minute after its last use.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port or 0))
        except (OSError, OverflowError) as error:
            raise LanewrightError(
                f"port {port} of {HOST} cannot be used: {getattr(error, 'strerror', error)}",
                hint="name another with `--port N`, or leave it out to have a free one picked",
            ) from error
        found: int = listener.getsockname()[1]
        return found
