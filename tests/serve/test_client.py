"""What a server may do to who asks it, and how long that lasts."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread

import pytest

from lanewright.serve.client import RefusedError, healthy, post, request
from lanewright.serve.port import HOST

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
LIMIT = 0.6
# Then it hangs up, and a client without a limit is told apart.
MOST_DROPS = 60


@contextmanager
def serving(answer: Callable[[socket.socket, Event], None]) -> Iterator[int]:
    """Have one connection answered while the block runs; the port."""
    ended = Event()

    def accept(listening: socket.socket) -> None:
        peer, _ = listening.accept()
        with closing(peer):
            try:
                answer(peer, ended)
            except OSError:
                return  # who asked has gone

    with closing(socket.create_server((HOST, 0))) as listening:
        thread = Thread(target=accept, args=(listening,))
        thread.start()
        yield listening.getsockname()[1]
        ended.set()
        thread.join()


def dripping(start: bytes, drop: bytes) -> Callable[[socket.socket, Event], None]:
    """Answer with a start, and then drop after drop, each well within the limit."""

    def drip(peer: socket.socket, ended: Event) -> None:
        peer.recv(2**16)
        peer.sendall(start)
        for _ in range(MOST_DROPS):
            if ended.wait(0.1):
                return
            peer.sendall(drop)

    return drip


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (HEAD + b"100000\r\n\r\n{", b" "),
        (HEAD, b"0"),
        (HEAD + b"2\r\n", b"X-More: 1\r\n"),
        (b"", b"H"),
    ],
)
def test_an_answer_that_drips_ends_in_time_and_is_told(start: bytes, drop: bytes) -> None:
    begun = time.monotonic()
    with serving(dripping(start, drop)) as port, pytest.raises(RefusedError) as caught:
        post(port, "/collective_rpc", {}, seconds=LIMIT)
    assert (
        str(caught.value) == f"/collective_rpc of {HOST}:{port} gave no whole answer within 0.6 s"
    )
    assert LIMIT <= time.monotonic() - begun < 5 * LIMIT


def silent(_peer: socket.socket, ended: Event) -> None:
    """Neither read nor answer."""
    ended.wait()


def test_a_server_that_takes_no_request_is_told_alike() -> None:
    body = b" " * 2**26
    with (
        serving(silent) as port,
        pytest.raises(RefusedError, match=f"/x of {HOST}:{port} gave no whole answer within 0.6 s"),
    ):
        request(port, "POST", "/x", body, seconds=LIMIT)


def test_one_that_is_slow_and_whole_in_time_is_read() -> None:
    def slow(peer: socket.socket, ended: Event) -> None:
        peer.recv(2**16)
        for part in (HEAD, b"11\r\n", b"\r\n", b'{"a": ', b"[1]", b"}\n"):
            peer.sendall(part)
            ended.wait(0.05)

    with serving(slow) as port:
        assert post(port, "/x", {}, seconds=30) == {"a": [1]}


def test_one_that_hangs_up_is_told() -> None:
    with (
        serving(lambda peer, _: peer.close()) as port,
        pytest.raises(RefusedError, match="/x got no answer: "),
    ):
        post(port, "/x", {}, seconds=30)
    assert not healthy(port)
