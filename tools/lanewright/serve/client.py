"""Requests to a server on this machine's loopback address, whatever proxy is set."""

import http.client
import json
from typing import Any

from lanewright.serve.port import HOST

OK = 200
MOST_BYTES = 64 * 2**20


class RefusedError(Exception):
    """The server answered a request with an error, or not at all."""


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
    """Send one request; status and body of the answer."""
    connection = http.client.HTTPConnection(HOST, port, timeout=seconds)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        status, answer = response.status, response.read(MOST_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise RefusedError(f"{path} got no answer: {error}") from error
    finally:
        connection.close()
    if len(answer) > MOST_BYTES:
        raise RefusedError(f"{path} answered with more than {MOST_BYTES} bytes")
    return status, answer
