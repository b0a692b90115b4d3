"""Pull requests with a fault planted in them, and lanes that carry those."""

import re
import sys
from collections.abc import Mapping

from lanewright.store.objects import CommitId
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

CACHE, OFFLOAD, ROUTER, UVA = (
    "vllm/config/cache.py",
    "vllm/config/offload.py",
    "vllm/model_executor/layers/fused_moe/router.py",
    "vllm/model_executor/offloader/uva.py",
)
LIMIT = ("LIMIT = 64", "LIMIT = 65")
ROWS = ("    rows: int = 8", "    rows: int = 9")
STEP = ("self.steps += 1", "self.steps += 2")
RESET = ("Begin again.", "Begin anew.")
AGAIN = ("Begin anew.", "Begin from the start.")

# Good while the planted hunk is not in: one reads the tree's file, one imports it.
READING = f'! grep -q "steps += 2" $LANEWRIGHT_TREE/{CACHE}'
IMPORTING = (
    f"{sys.executable} -c 'from vllm.config.cache import *;"
    ' part = ConfigCache(ConfigCacheConfig()); part.step("a"); assert part.steps == 1\''
)


# Whether the parts are of one entry alone, which is asked after the whole and the bare pin.
OF_ONE_ENTRY = '[ "$(cut -d: -f1 "$LANEWRIGHT_PARTS" | uniq | wc -l)" = 1 ]'


def counts_rows(file: str) -> str:
    """A test for a shell: whether a file of the tree has the edit of its rows."""
    return f'grep -q "rows: int = 9" $LANEWRIGHT_TREE/{file}'


def text_of(carrying: Carrying, commit: str, path: str) -> str:
    """A file of upstream."""
    return git(carrying.upstream, "show", f"{commit}:{path}").decode()


def pushed(
    carrying: Carrying,
    number: int,
    edits: Mapping[str, tuple[tuple[str, str], ...]],
    base: str = "",
) -> CommitId:
    """The head of a pull request that replaces text in files of its base."""
    base = base or carrying.main[0]
    changed: dict[str, bytes | None] = {}
    for path, pairs in edits.items():
        text = text_of(carrying, base, path)
        for old, new in pairs:
            assert text.count(old) == 1, (path, old)
            text = text.replace(old, new)
        changed[path] = text.encode()
    # Two of one content and one second would else be one commit.
    return carrying.push(number, base, changed, message=f"change {number}")


def planted(carrying: Carrying) -> str:
    """Three pull requests of which one counts each step twice; gives what ``drop`` calls it."""
    pushed(carrying, 101, {OFFLOAD: (LIMIT, RESET), ROUTER: (ROWS,)})
    pushed(carrying, 102, {CACHE: (LIMIT, ROWS, STEP, RESET), UVA: (LIMIT,)})
    pushed(carrying, 103, {ROUTER: (RESET,)})
    for number in ("101", "102", "103"):
        assert carrying.run("add", number) == 0
    return name_of(carrying, "102", CACHE, ".step")


def name_of(carrying: Carrying, entry: str, path: str, symbol: str) -> str:
    """What the one hunk is called that stands in a definition whose name ends so."""
    hunks = next(each.hunks for each in carrying.lock.entries if each.name == entry)
    [hunk] = [h for h in hunks if h.path == path and h.symbol.endswith(symbol)]
    return f"{entry}:{path}:{hunk.id}"


def tries(talk: str) -> list[tuple[str, str]]:
    """What was tried, and with what verdict."""
    return re.findall(r"^try \d+: (.+)\n(?:.*\n)*?  (good|bad|untestable)\b", talk, re.MULTILINE)
