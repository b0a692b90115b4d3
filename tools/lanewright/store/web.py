"""JSON from a web server, within a time and a size, and from no other server than the one asked."""

import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from http.client import HTTPException
from ssl import SSLCertVerificationError
from threading import Thread
from typing import TypeVar
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

import msgspec

from lanewright import __version__
from lanewright.errors import LanewrightError, UnreachedError

MOST_REDIRECTS = 3
REDIRECTS = frozenset({301, 302, 303, 307, 308})
FORBIDDEN = 403
TOO_MANY = 429
BROKEN = 500
# Nothing that two parsers could read as two hosts, and nothing that carries a password.
URL = re.compile(
    r"(https://[a-z0-9.-]+(?::\d+)?|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?)"
    r"(?:/[!-~]*)?",
    re.IGNORECASE,
)
TOKEN = re.compile(r"[!-~]+")
T = TypeVar("T")


class WebError(LanewrightError):
    """A server gave no answer that can be used.

    Args:
        message: What is wrong, naming the address.
        hint: What to mend, when that is known.
        limited: Whether the server takes no more requests of this caller for a while.
    """

    def __init__(self, message: str, *, hint: str | None = None, limited: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.limited = limited


class NoAnswerError(WebError, UnreachedError):
    """A server did not answer, or is out of order, or takes no more requests for now."""


def get_json(
    url: str, kind: type[T], *, token: str | None = None, timeout: float, most_bytes: int
) -> T:
    """Get a JSON document; through the environment's proxies, unless it is this machine's.

    Args:
        url: ``https``, or ``http`` on this machine's loopback address.
        kind: Type of the document.
        token: Shown to the server of ``url``, never told.
        timeout: Seconds for everything together, from the lookup of the name to the last byte.
        most_bytes: Largest answer that is read.

    Raises:
        WebError: No answer, none in time, a refusal, a redirect to another server, one that is
            too large, or one that is no such document.
    """
    _origin(url)
    headers = {"Accept": "application/json", "User-Agent": f"lanewright/{__version__}"}
    if token is not None:
        if not TOKEN.fullmatch(token):
            raise WebError("the token holds a blank or another character that no token has")
        headers["Authorization"] = f"Bearer {token}"
    deadline = time.monotonic() + timeout
    try:
        content = _within(timeout, lambda: _fetch(url, headers, deadline, most_bytes))
    except TimeoutError as error:
        raise NoAnswerError(f"{url} gave no whole answer within {timeout:.3g} s") from error
    if len(content) > most_bytes:
        raise WebError(f"{url} answered with more than {most_bytes} bytes")
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        why = str(error)[:200]
        raise WebError(f"{url} answered with something else than expected: {why!a}") from error


def follow(url: str, target: str) -> str:
    """The address that a server names in an answer, absolute.

    Args:
        url: What was asked.
        target: What it names, absolute or relative to ``url``.

    Raises:
        WebError: It is on another server, or goes from ``https`` to ``http``.
    """
    try:
        found = urljoin(url, target)
    except ValueError as error:
        raise WebError(f"{url} refers to an address that is none: {target[:200]!r}") from error
    if _origin(found) != _origin(url):
        raise WebError(f"{url} refers to another server, {found[:200]}: not followed")
    return found


def _origin(url: str) -> str:
    found = URL.fullmatch(url)
    if not found:
        shown = url.rpartition("@")[2][:200]
        raise WebError(
            f"cannot ask {shown!r}: no https address, or one with a user's name, a blank or the like"
        )
    return found[1].lower()


def _within(seconds: float, call: Callable[[], T]) -> T:
    """What a call gives; it is left to itself once the time is over.

    A socket's timeout starts anew with every byte, and the lookup of a name has none.

    Raises:
        TimeoutError: The time is over.
    """
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            future.set_exception(error)

    Thread(target=work, daemon=True).start()
    return future.result(seconds)


def _fetch(url: str, headers: dict[str, str], deadline: float, most_bytes: int) -> bytes:
    """An answer's body, or one byte more than is allowed of it.

    Raises:
        WebError: There is none.
        TimeoutError: The time is over.
    """
    opener = _opener(ProxyHandler({} if _origin(url).startswith("http:") else None))
    for _ in range(1 + MOST_REDIRECTS):
        left = max(deadline - time.monotonic(), 0.001)
        try:
            with opener.open(Request(url, headers=headers), timeout=left) as response:  # noqa: S310 - _origin has seen the scheme
                body: bytes = response.read(most_bytes + 1)
                return body
        except HTTPError as error:
            with error:
                target = error.headers.get("Location")
                if error.code not in REDIRECTS or not target:
                    raise _refused(url, error) from error
            url = follow(url, target)
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise reason from error
            why = str(reason) or type(reason).__name__
            kind = WebError if isinstance(reason, SSLCertVerificationError) else NoAnswerError
            raise kind(f"{url} gave no answer: {why!a}") from error
        except ValueError as error:  # it may quote a proxy's password
            raise WebError(f"cannot ask {url}: its host, or a proxy's address, is none") from error
    raise WebError(f"{url} is the last of more than {MOST_REDIRECTS} redirects")


def _opener(proxies: ProxyHandler) -> OpenerDirector:
    """What urllib opens addresses with, less what follows redirects.

    That would follow them anywhere, the token with it.
    """
    opener = OpenerDirector()
    for handler in (
        proxies,
        HTTPHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _refused(url: str, error: HTTPError) -> WebError:
    limited = error.code == TOO_MANY or (
        error.code == FORBIDDEN
        and ("Retry-After" in error.headers or error.headers.get("X-RateLimit-Remaining") == "0")
    )
    why = ": no more requests for now, its rate limit is reached" if limited else ""
    kind = NoAnswerError if limited or error.code >= BROKEN else WebError
    return kind(f"{url} answered {error.code}{why}", limited=limited)
