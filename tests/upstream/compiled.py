"""Where the Pythons of stand-ins keep what they compile, for all tests of this process."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path


@functools.cache
def compiled() -> Path:
    """A folder that outlives the test.

    In one of a test's own each would compile the standard library again, which takes longer than
    most of what these Pythons are started for.
    """
    folder = tempfile.mkdtemp(prefix="lanewright-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
