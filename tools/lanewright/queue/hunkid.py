"""Names for hunks that survive an update of the patch they come from."""

import hashlib
from collections import Counter
from collections.abc import Iterable

from lanewright.queue.diff import Hunk
from lanewright.queue.outline import Outline, symbol_of


def hunk_ids(path: str, base: list[bytes], hunks: Iterable[Hunk]) -> list[tuple[str, str]]:
    """Id and enclosing symbol of each hunk of one file.

    The id hashes content, path and symbol, never a line number; equal hunks in one symbol are
    told apart by their order.
    """
    seen: Counter[bytes] = Counter()
    named = []
    outline = Outline(path, base)
    for hunk in hunks:
        changed = (*hunk.removed, *hunk.added)
        symbol = symbol_of(outline.openings(hunk.first_change, changed))
        marked = [b"-" + line for line in hunk.removed] + [b"+" + line for line in hunk.added]
        content = b"\0".join([path.encode("utf-8", "surrogateescape"), symbol.encode(), *marked])
        digest = hashlib.sha256(content + b"\0%d" % seen[content]).hexdigest()
        seen[content] += 1
        named.append((digest[:10], symbol))
    return named
