"""Runs one command and says what it took: ``launcher.py RESULT COMMAND...``.

A process of its own, because what a process is said to have had in memory at most begins with what
its parent has.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path


def main(result: Path, command: list[str]) -> None:
    """Run it; the result is its exit status, seconds by the clock and of processors, and most KiB."""
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status = os.waitpid(process, 0)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = used.ru_utime + used.ru_stime
    result.write_text(
        json.dumps([os.waitstatus_to_exitcode(status), seconds, busy, used.ru_maxrss])
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
