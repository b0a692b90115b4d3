"""Which definitions a change is in, so that a clean merge into another one is noticed.

Methods with equal bodies are common in vLLM. Where upstream moved or removed one of them, git can
merge an edit cleanly into its twin; the text of the merge alone does not show it.
"""

import re
from collections.abc import Mapping

from lanewright.queue.hunkid import symbol_at
from lanewright.queue.patchfile import HUNK
from lanewright.queue.subset import split_lines
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId

SECTION = re.compile(rb"diff --git a/(\S+) b/")


def changed_symbols(
    repository: Repository, before: TreeId, after: TreeId, contents: Mapping[str, bytes]
) -> dict[str, set[str]]:
    """Per changed path, the dotted names of the definitions that enclose its changes.

    Args:
        repository: The store.
        before: Flat tree with simple names.
        after: The same, changed.
        contents: Per path, the file in ``after``, if it is there.
    """
    output = repository.run("diff-tree", "-p", "-U0", "--no-ext-diff", before, after)
    lines = iter(split_lines(output.stdout))
    found: dict[str, set[str]] = {}
    path, text = "", list[bytes]()
    for line in lines:
        if section := SECTION.match(line):
            path = section[1].decode()
            text = split_lines(contents.get(path, b""))
        elif hunk := HUNK.match(line):
            removed, added = int(hunk[2] or 1), int(hunk[4] or 1)
            changed = [next(lines)[1:] for _ in range(removed + added)]
            # A pure removal is told by the line after which it was.
            at = int(hunk[3]) - 1 if added else int(hunk[3])
            found.setdefault(path, set()).add(symbol_at(text, at, changed[removed:] or changed))
    return found
