"""What reviewers make of a change before they merge it, and what only looks like that.

Each case is one hunk of a pull request: lines of the base, the pull request's in their place, and
what upstream has there now.
"""

from typing import NamedTuple


class Case(NamedTuple):
    """One hunk and its fate."""

    name: str
    base: str
    pull: str
    upstream: str


# What stands around each hunk: words and shapes that many a file of vLLM has.
ABOVE = '''\
"""Rows of experts, and where they lie."""

import argparse
from dataclasses import dataclass

from vllm.logger import init_logger
from vllm.utils.math import round_up

logger = init_logger(__name__)


def add_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--rows", type=int, default=8)
    group.add_argument("--threshold", type=float, default=0.5)


@dataclass
class Config:
    rows: int = 8
    """How many rows it keeps; 0 is all."""

    def check(self) -> None:
        if self.rows < 0:
            raise ValueError("rows cannot be negative")
        logger.info("a table with %d rows", self.rows)

# here it begins
'''
BELOW = '''\
# and here it ends


class Table:
    """Which row an expert lies in."""

    def load(self, rows: list[int], limit: int) -> list[int]:
        index = [self.index[row] for row in rows if row < limit]
        self.seen = {row: self.seen.get(row, 0) + 1 for row in rows}
        return index

    def copy(self, rows: list[int] | None = None) -> int:
        # Nothing is copied twice.
        if rows is None:
            return 0
        return round_up(len(rows), 2)
'''

# Upstream took the change, with edits.
EDITED = (
    Case(
        "a variable is renamed",
        "",
        "        hot = rank(rows)\n        for row in hot:\n            pin(row)\n",
        "        hottest = rank(rows)\n        for row in hottest:\n            pin(row)\n",
    ),
    Case(
        "a docstring is reworded",
        "",
        '    def hot(self) -> int:\n        """How many rows are hot."""\n        return len(self.h)\n\n',
        '    def hot(self) -> int:\n        """Number of hot rows."""\n        return len(self.h)\n\n',
    ),
    Case(
        "keywords are reordered",
        "        pool = Pool(rows)\n",
        "        pool = Pool(rows, limit=limit, pinned=True)\n",
        "        pool = Pool(rows, pinned=True, limit=limit)\n",
    ),
    Case(
        "a type is added",
        "",
        "        seen = {}\n        for row in rows:\n            seen[row] = count(row)\n",
        "        seen: dict[int, int] = {}\n        for row in rows:\n"
        "            seen[row] = count(row)\n",
    ),
    Case(
        "a line of log is added",
        "",
        "        if not rows:\n            return None\n        moved = copy(rows, self.pool)\n",
        "        if not rows:\n            return None\n        moved = copy(rows, self.pool)\n"
        '        logger.debug("moved %d", moved)\n',
    ),
    Case(
        "a comment is left out",
        "",
        "        # Rows of the pool may lie anywhere.\n        index = self.table[rows]\n"
        "        out = gather(self.pool, index)\n",
        "        index = self.table[rows]\n        out = gather(self.pool, index)\n",
    ),
    Case(
        "a long call is broken into lines",
        "        out = run(x)\n",
        "        out = run(x, table=self.table, pool=self.pool, limit=self.limit)\n",
        "        out = run(\n            x,\n            table=self.table,\n            pool=self.pool,\n"
        "            limit=self.limit,\n        )\n",
    ),
    Case(
        "a default is another one",
        "",
        '    pool_rows: int = 0\n    """Rows of the pool; 0 is off."""\n\n',
        '    pool_rows: int = -1\n    """Rows of the pool; -1 is off."""\n\n',
    ),
    Case(
        "a test is written otherwise",
        "        if self.pool:\n",
        "        if self.pool is not None and self.pool.rows > 0:\n",
        "        if self.pool is not None and self.pool.rows:\n",
    ),
    Case(
        "a function is renamed",
        "",
        "def pool_rows(rows: int, limit: int) -> int:\n    return max(0, min(rows, limit))\n\n\n",
        "def rows_of_pool(rows: int, limit: int) -> int:\n    return max(0, min(rows, limit))\n\n\n",
    ),
)

# Upstream did something else at that place.
UNRELATED = (
    Case("a number is another one", "LIMIT = 64\n", "LIMIT = 128\n", "LIMIT = 256\n"),
    Case(
        "a call gets another keyword",
        "        pool = Pool(rows)\n",
        "        pool = Pool(rows, pinned=True)\n",
        "        pool = Pool(rows, device=self.device)\n",
    ),
    Case(
        "another field is added",
        "",
        '    pool_rows: int = 0\n    """Rows of the pool; 0 is off."""\n\n',
        '    burst: int = 2\n    """How many steps it may take at once."""\n\n',
    ),
    Case(
        "another function is added",
        "",
        "def pool_rows(rows: int, limit: int) -> int:\n    return max(0, min(rows, limit))\n\n\n",
        "def share(part: int, whole: int) -> float:\n    return part / whole if whole else 0.0\n\n\n",
    ),
    Case("a line is removed", "        self.steps += 1\n", "        self.steps += 2\n", ""),
    Case(
        "a test is another one",
        "        if rows < 0:\n",
        "        if rows < 0 or rows > self.pool.rows:\n",
        "        if not isinstance(rows, int):\n",
    ),
    Case(
        "a block is rewritten",
        "        for row in rows:\n            self.load(row)\n",
        "        for row in rows:\n            if row not in self.hot:\n                self.load(row)\n",
        "        with self.stream:\n            self.load_all(rows, non_blocking=True)\n",
    ),
    Case("another import is added", "", "import heapq\n", "import itertools\n"),
    Case(
        "another import of the same package is added",
        "",
        "from vllm.pool.rows import Pool\n",
        "from vllm.utils.rows import cdiv\n",
    ),
    Case(
        "another guard of the same shape is added",
        "",
        '        if rows < 0:\n            raise ValueError("rows cannot be negative")\n',
        '        if limit > 64:\n            raise ValueError("limit is above what a pool holds")\n',
    ),
    Case(
        "another line of log is added",
        "",
        '        logger.info("pool has %d rows", rows)\n',
        '        logger.info("loading took %.2f s", seconds)\n',
    ),
    Case(
        "a comment that says something else",
        "",
        "        # Rows of the pool may lie anywhere.\n",
        "        # The caller holds the lock of this table.\n",
    ),
    Case(
        "another argument is registered",
        "",
        '        group.add_argument("--pool-rows", type=int, default=0)\n',
        '        group.add_argument("--burst", type=int, default=2)\n',
    ),
)

# The same words at other places of the line; in Python and in a patch these count.
BLANKS = (
    Case(
        "another indent",
        "        for row in rows:\n            load(row)\n",
        "        for row in rows:\n            load(row)\n            count += 1\n",
        "        for row in rows:\n            load(row)\n        count += 1\n",
    ),
    Case(
        "trailing blanks",
        "        limit = 64\n",
        "        limit = self.pool.rows\n",
        "        limit = self.pool.rows  \n",
    ),
    Case(
        "a tab for blanks",
        "        limit = 64\n",
        "        limit = self.pool.rows\n",
        "        limit =\tself.pool.rows\n",
    ),
)
