"""Runs something in a forked child, which may die of it."""

import faulthandler
import os
import warnings
from collections.abc import Callable


def in_child(act: Callable[[], object]) -> int:
    """Call in a child; 0 if it returned, 1 if it raised, minus the signal it died of."""
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and pytest-xdist has one; the child calls nothing of it.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        faulthandler.disable()
        code = 1
        try:
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
