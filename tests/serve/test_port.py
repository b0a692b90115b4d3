import socket

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.port import HOST, usable_port


def test_a_free_port_is_picked() -> None:
    assert 0 < usable_port(None) < 65536


def test_a_free_port_that_is_asked_for_is_given() -> None:
    port = usable_port(None)
    assert usable_port(port) == port


def test_a_busy_port_is_named() -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LanewrightError, match=f"port {port} of 127.0.0.1") as caught:
            usable_port(port)
    assert caught.value.hint


def test_an_impossible_port_is_named() -> None:
    with pytest.raises(LanewrightError, match="port 70000"):
        usable_port(70000)
