"""Names for hunks that survive an update of the patch they come from."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import partial

from lanewright.queue.merge.outline import Outline, openings, symbol_of
from lanewright.queue.patch.diff import Hunk

# For fewer, less is read by looking upwards from each than by reading the file's whole outline.
MANY = 8


def hunk_ids(path: str, base: list[bytes], hunks: Sequence[Hunk]) -> list[tuple[str, str]]:
    """Id and enclosing symbol of each hunk of one file.

    The id hashes content, path and symbol, never a line number; equal hunks in one symbol are
    told apart by their order.
    """
    seen: Counter[bytes] = Counter()
    named = []
    around = partial(openings, path, base) if len(hunks) < MANY else Outline(path, base).openings
    for hunk in hunks:
        changed = (*hunk.removed, *hunk.added)
        symbol = symbol_of(around(hunk.first_change, changed))
        marked = [b"-" + line for line in hunk.removed] + [b"+" + line for line in hunk.added]
        content = b"\0".join([path.encode("utf-8", "surrogateescape"), symbol.encode(), *marked])
        digest = hashlib.sha256(content + b"\0%d" % seen[content]).hexdigest()
        seen[content] += 1
        named.append((digest[:10], symbol))
    return named
