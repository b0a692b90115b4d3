"""Requests to a server on this machine's loopback address, whatever proxy is set."""

import http.client
import json
import socket
import time
from typing import Any

from lanewright.serve.port import HOST

OK = 200
MOST_BYTES = 64 * 2**20


class RefusedError(Exception):
    """The server answered a request with an error, or not at all."""


class NobodyError(RefusedError):
    """No server listens on the port."""


class _Exchange(http.client.HTTPConnection):
    """A connection whose time limit is for all of the exchange."""

    def connect(self) -> None:
        """Connect, and begin to count."""
        self.sock = _Limited(self.timeout or 0.0)
        self.sock.connect((self.host, self.port))


class _Limited(socket.socket):
    """A TCP socket on which all waits together end in time: a peer may send byte after byte."""

    def __init__(self, seconds: float) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._ends = time.monotonic() + seconds
        self.settimeout(seconds)

    def sendall(self, data: Any, flags: int = 0) -> None:  # noqa: ANN401 - as socket has it
        self._limit()
        super().sendall(data, flags)

    def recv_into(self, *args: Any) -> int:  # noqa: ANN401 - as socket has it
        self._limit()
        return super().recv_into(*args)

    def _limit(self) -> None:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.settimeout(left)


def healthy(port: int) -> bool:
    """Ask ``/health`` once."""
    try:
        return request(port, "GET", "/health", None, seconds=2)[0] == OK
    except RefusedError:
        return False


def serves(port: int, model: str) -> bool:
    """Ask ``/v1/models`` once whether a model of this name is served."""
    try:
        status, answer = request(port, "GET", "/v1/models", None, seconds=2)
        return status == OK and any(each["id"] == model for each in json.loads(answer)["data"])
    except (RefusedError, ValueError, KeyError, TypeError):
        return False


def post(port: int, path: str, body: dict[str, Any], *, seconds: float) -> dict[str, Any]:
    """Post a JSON object and read one.

    Raises:
        NobodyError: Nothing listens on the port.
        RefusedError: The server answered with an error or with something else, or not in time.
    """
    status, answer = request(port, "POST", path, json.dumps(body).encode(), seconds=seconds)
    text = answer.decode(errors="replace")
    if status != OK:
        raise RefusedError(f"{path} answered {status}: {text[:500]}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path} did not answer with JSON: {text[:500]}") from error
    if not isinstance(found, dict):
        raise RefusedError(f"{path} did not answer with a JSON object: {text[:500]}")
    return found


def request(
    port: int, method: str, path: str, body: bytes | None, *, seconds: float
) -> tuple[int, bytes]:
    """Send one request; status and body of the answer.

    Args:
        port: Of ``HOST``.
        method: Of HTTP.
        path: From / on.
        body: JSON; None for none.
        seconds: The most that all of it may take, from connecting to the answer's last byte.

    Raises:
        NobodyError: Nothing listens on the port.
        RefusedError: There is no whole answer in time, or it is too long.
    """
    connection = _Exchange(HOST, port, timeout=seconds)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        status, answer = response.status, response.read(MOST_BYTES + 1)
    except TimeoutError as error:
        raise RefusedError(
            f"{path} of {HOST}:{port} gave no whole answer within {seconds:g} s"
        ) from error
    except ConnectionRefusedError as error:
        raise NobodyError(f"nothing listens on {HOST}:{port}") from error
    except (OSError, http.client.HTTPException) as error:
        raise RefusedError(f"{path} got no answer: {error}") from error
    finally:
        connection.close()
    if len(answer) > MOST_BYTES:
        raise RefusedError(f"{path} answered with more than {MOST_BYTES} bytes")
    return status, answer
