"""What of a text still looks private, for a person to judge."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import ip_address

import msgspec

from lanewright.bundle.parts import Part
from lanewright.bundle.private import FRONT, TAKEN

MOST_SHOWN = 100
PARQUET = ".parquet"
# Of every machine.
SYSTEM = frozenset({b"bin", b"dev", b"etc", b"lib", b"lib64", b"proc", b"sbin", b"sys", b"usr"})
WORD = rb"[A-Za-z0-9_.+@~-]"
PATH = re.compile(
    rb"(?:(?<![A-Za-z0-9_.~/:*<-])|(?<=\\[bfnrt]))(?<!Route: )/(?:" + WORD + rb"+/)+" + WORD + rb"*"
)
# What a server answers under is no file.
ROUTE = re.compile(rb"v\d+")
IPV4 = re.compile(rb"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
IPV6 = re.compile(rb"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:.])")
MAIL = re.compile(rb"[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+")
TOKEN = re.compile(FRONT + rb"[A-Za-z0-9_-]{32,200}(?![A-Za-z0-9_-])")
ASSIGNED = re.compile(
    rb"(?i)(?:token|credentials?)[\"'\\]*\s*[:=]\s*[\"'\\]*[A-Za-z0-9._~+/=-]{12,}"
)
WAS_TAKEN = re.compile(re.escape(TAKEN.encode()))
STAMP = re.compile(rb"\d{8}T\d{6}Z")
KINDS = [re.compile(kind) for kind in (rb"[a-z]", rb"[A-Z]", rb"[0-9]")]


class Sight(msgspec.Struct, frozen=True):
    """What looks private.

    Attributes:
        file: Name of the first file that has it.
        line: Where in that, from 1.
        what: What it may be.
        text: It, cut where it is long; empty for a secret that was taken out.
        times: How often it is there, in all files.
    """

    file: str
    line: int
    what: str
    text: str
    times: int


def looked_through(parts: Iterable[Part]) -> list[Sight]:
    """What looks private, each once, in the order of the files."""
    first: dict[tuple[str, str], tuple[str, int]] = {}
    times: dict[tuple[str, str], int] = {}
    for part in parts:
        if part.name.endswith(PARQUET):
            continue
        ends = [found.start() for found in re.finditer(rb"\n", part.content)]
        for what, text, start in sorted(_sights(part.content), key=lambda sight: sight[2]):
            key = (what, text)
            first.setdefault(key, (part.name, bisect_left(ends, start) + 1))
            times[key] = times.get(key, 0) + 1
    return [Sight(*place, *key, times[key]) for key, place in first.items()]


def _sights(content: bytes) -> Iterator[tuple[str, str, int]]:
    for found in WAS_TAKEN.finditer(content):
        yield "a secret, which was taken out", "", found.start()
    for what, pattern, counts in LOOKED_FOR:
        for found in pattern.finditer(content):
            if TAKEN.encode() not in found[0] and counts(found[0]):
                yield what, _shown(found[0]), found.start()


def _is_own(path: bytes) -> bool:
    """Whether a path is not one that every machine has, nor what a server answers under."""
    top = path.split(b"/")[1]
    return top not in SYSTEM and not ROUTE.fullmatch(top)


def _is_mixed(word: bytes) -> bool:
    """Whether it has letters of both kinds and digits, as no digest has, and no time of a run's."""
    return all(kind.search(word) for kind in KINDS) and not STAMP.search(word)


def _is_outside(text: bytes) -> bool:
    """Whether it is an address, and not this machine's to itself."""
    try:
        found = ip_address(text.decode())
    except ValueError:
        return False
    return not (found.is_loopback or found.is_unspecified or text.startswith(b"255."))


def _shown(text: bytes) -> str:
    return text[:MOST_SHOWN].decode("utf-8", "replace")


LOOKED_FOR: Sequence[tuple[str, re.Pattern[bytes], Callable[[bytes], bool]]] = (
    ("an absolute path", PATH, _is_own),
    ("an IP address", IPV4, _is_outside),
    ("an IP address", IPV6, _is_outside),
    ("an e-mail address", MAIL, bool),
    ("a token", ASSIGNED, bool),
    ("a token", TOKEN, _is_mixed),
)
