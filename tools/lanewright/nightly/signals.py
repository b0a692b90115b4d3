"""Signals that wait: what has to come to its end is not cut by a second Ctrl-C."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold Ctrl-C, a service manager's stop and a lost terminal back until the block is left.

    The first of them is then raised, but where this process is on its way out for one already. One
    that is ignored stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are never handled here
        return
    leaving = isinstance(sys.exc_info()[1], KeyboardInterrupt | SystemExit)
    came: list[int] = []
    before = {
        number: handler
        for number in HELD_BACK
        if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }
    for number in before:
        signal.signal(number, lambda found, _: came.append(found))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came and not leaving:
            signal.raise_signal(came[0])
