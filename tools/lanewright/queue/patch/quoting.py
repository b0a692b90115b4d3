"""git's C-style quoting of unusual path names."""

import re

ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
SIMPLE = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r",
    b"t": b"\t", b"v": b"\v", b"\\": b"\\", b'"': b'"',
}  # fmt: skip


def unquote(name: bytes) -> str:
    """A path as git printed it, quoted or not, as text that survives a round trip.

    Raises:
        ValueError: It holds an escape that git does not write.
    """
    if len(name) > 1 and name.startswith(b'"') and name.endswith(b'"'):
        name = ESCAPE.sub(_plain, name[1:-1])
    return name.decode("utf-8", "surrogateescape")


def _plain(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 1 and code not in SIMPLE:
        raise ValueError(f"unknown escape \\{code.decode('utf-8', 'replace')}")
    return SIMPLE[code] if code in SIMPLE else bytes([int(code, 8)])
