"""A stand-in for a web API: a real HTTP server on the loopback address."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Literal

PAUSE = 0.02


@dataclass(frozen=True)
class Answer:
    """What the server says.

    Attributes:
        body: Bytes, or what is sent as JSON.
        status: HTTP status.
        headers: Beside the usual ones.
        cut: Close the connection after this many bytes of the body.
        drip: Send one byte now and then, without end, before the headers are over or after them.
        raw: Bytes to send in place of everything.
    """

    body: object = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    drip: Literal["headers", "body"] | None = None
    raw: bytes | None = None

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    """A request as the server saw it; the headers' names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Web:
    """A running server; answers may be set while it runs.

    Attributes:
        url: Its address.
        answers: By path with query, each the same whenever it is asked for; 404 for others.
        asked: Requests so far, the last one last.
    """

    url: str
    answers: dict[str, Answer]
    asked: list[Asked]


@contextmanager
def serving() -> Iterator[Web]:
    """Run a server; no handler is left when this ends."""
    stopping = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            web.asked.append(Asked(self.command, self.path, headers))
            try:
                _send(self, web.answers.get(self.path, Answer(status=404)), stopping)
            except ConnectionError:
                self.close_connection = True  # the client went away

        do_CONNECT = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False  # so that closing it waits for them
    web = Web(f"http://127.0.0.1:{server.server_port}", {}, [])
    loop = Thread(target=server.serve_forever, args=(PAUSE,))
    loop.start()
    try:
        yield web
    finally:
        stopping.set()
        server.shutdown()
        loop.join()
        server.server_close()


def _send(handler: BaseHTTPRequestHandler, answer: Answer, stopping: Event) -> None:
    handler.close_connection = True
    if answer.raw is not None:
        handler.wfile.write(answer.raw)
        return
    content = answer.content
    handler.send_response_only(answer.status)
    headers: Mapping[str, str] = {"Content-Length": str(len(content)), **answer.headers}
    for name, value in headers.items() if answer.drip is None else ():
        handler.send_header(name, value)
    if answer.drip == "headers":
        handler.flush_headers()
        _drip(handler.wfile.write, b"x", stopping)
        return
    handler.end_headers()
    if answer.drip == "body":
        _drip(handler.wfile.write, b" ", stopping)
        return
    handler.wfile.write(content[: answer.cut])


def _drip(write: Callable[[bytes], object], byte: bytes, stopping: Event) -> None:
    while not stopping.wait(PAUSE):
        write(byte)
