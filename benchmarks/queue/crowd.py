"""Many pull requests on the same few files, watched and held against each other."""

import statistics
from collections.abc import Sequence

from benchmarks.queue.lane import Bench, commit_pin
from benchmarks.queue.pulls import NEAR
from benchmarks.queue.rows import Row
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId
from lanewright.store.write import Content
from tests.upstream.stand_in.between import Between, between
from tests.upstream.stand_in.stream import START, NewCommit, write_commits

FIRST = 90_001
SHARED = 12
HUNKS = 4
MATRIX_MOST = 20.0


def matrix_row(
    bench: Bench,
    repository: Repository,
    main: Sequence[CommitId],
    *,
    count: int,
    version: str,
    repeats: int,
) -> Row:
    """Whole reports of a lane that watches so many, each of which edits half of the same files.

    Args:
        bench: Where they run.
        repository: Upstream's; the pull requests are made there.
        main: The commits of its main branch.
        count: Of the pull requests.
        version: Of the release that goes with the last commit.
        repeats: How often it is run.
    """
    _make(repository, main, count)
    numbers = ", ".join(str(FIRST + number) for number in range(count))
    bench.lane("crowd", f"{commit_pin(main[-1], version)}\nwatch = [{numbers}]", main[0], [])
    bench.run("fetch", "crowd")
    bench.run("report", "crowd")
    took = [bench.run("report", "crowd").seconds for _ in range(repeats)]
    return Row(f"report with the matrix of {count}", statistics.median(took), "s", most=MATRIX_MOST)


def _make(repository: Repository, main: Sequence[CommitId], count: int) -> None:
    where = between(repository, main[0], main[-1])
    shared = _files(where)
    commits = []
    for number in range(count):
        mine = [path for at, path in enumerate(shared) if (at + number) % 2 == 0]
        changes = {
            path: Content(where.base[path].mode, _edited(where.source(path), number))
            for path in mine
        }
        name = f"{FIRST + number}"
        commits.append(
            NewCommit(f"refs/pull/{name}/head", "bench", START, name, (main[0],), changes)
        )
    write_commits(repository, commits)


def _files(where: Between) -> list[str]:
    """The largest files, half of which upstream changed."""
    paths = [path for path in where.base if path.startswith(NEAR) and path.endswith(".py")]
    paths = [path for path in paths if path in where.pin and path not in where.renamed]
    where.read_ahead(paths)
    large = sorted(paths, key=lambda path: (-len(where.source(path)), path))
    found = []
    for stand in ("same", "changed"):
        found += [path for path in large if where.stand(path) == stand][: SHARED // 2]
    return found


def _edited(source: bytes, number: int) -> bytes:
    """A comment in so many places, some of which another pull request has, too."""
    lines = source.splitlines(keepends=True)
    for hunk in reversed(range(HUNKS)):
        at = (hunk * len(lines) // HUNKS + number % 7 * 5) % len(lines)
        lines.insert(at, b"# carried by %d\n" % number)
    return b"".join(lines)
