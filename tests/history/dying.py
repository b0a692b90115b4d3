"""Takes nights and runs in, and ends as the power does before its N-th statement.

``python dying.py STATE NUMBER``; with a number past the last one it ends well.
"""

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from lanewright.history.taking_in import take_in
from lanewright.places import Places

STATE, NUMBER = Path(sys.argv[1]), int(sys.argv[2])
count = 0


def step() -> None:
    global count  # noqa: PLW0603 - one process, one count
    count += 1
    if count == NUMBER:
        os.kill(os.getpid(), signal.SIGKILL)


class Dying(sqlite3.Connection):
    def execute(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
        step()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:  # noqa: ANN401
        step()
        return super().executemany(*arguments)


connect = sqlite3.connect


def dying(*arguments: Any, **keywords: Any) -> sqlite3.Connection:  # noqa: ANN401
    return connect(*arguments, **keywords, factory=Dying)


sqlite3.connect = dying  # type: ignore[assignment]
take_in(Places(STATE, STATE))
