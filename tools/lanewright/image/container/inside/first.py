"""Run a script, and end when told to: ``first.py SCRIPT ARGUMENTS``.

Run by path with a container's Python as its first process. The kernel hands that one no signal that
it does not ask for, so that a script in its place would go on once its starter has ended; with the
first process all others of the container end. Exits with the script's status, 128 + N where signal
N ended it.
"""

import os
import signal
import sys


def main(words: list[str]) -> int:
    """Run Python with these words to its end, or to SIGTERM."""
    signal.signal(signal.SIGTERM, lambda number, _: os._exit(128 + number))
    process = os.posix_spawn(sys.executable, [sys.executable, *words], os.environ)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
