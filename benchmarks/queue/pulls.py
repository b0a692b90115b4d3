"""Pull requests on real files: each one commit, one to three hunks in one or two files.

Every other one edits next to lines that upstream changed too, so that it takes a three-way merge;
the files of the others are as they were.
"""

from collections.abc import Iterator, Sequence

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId
from lanewright.store.write import Content
from tests.upstream.stand_in.between import Between, between
from tests.upstream.stand_in.points import is_python, points
from tests.upstream.stand_in.regions import Region
from tests.upstream.stand_in.stream import START, NewCommit, write_commits

NEAR = ("vllm/model_executor/layers/", "vllm/v1/", "vllm/config/", "vllm/entrypoints/")
FIRST = 80_001
# How many hunks each file of a pull request gets, in turn.
HUNKS = ((1, 1), (2,), (3,), (1, 2), (1,))
# Lines between an edit and upstream's: a patch quotes three, and a merge needs one.
CLOSE = 3
APART = 10


def make_pulls(
    repository: Repository, main: Sequence[CommitId], count: int
) -> list[tuple[int, CommitId]]:
    """Make ``refs/pull/N/head`` so many times, each on the first commit of ``main``.

    Returns:
        Number and head of each.

    Raises:
        StopIteration: The two trees have not so many files.
    """
    where = between(repository, main[0], main[-1])
    free = {stand: _files(where, stand) for stand in ("same", "changed")}
    commits = []
    for number in range(count):
        changes = {}
        for hunks in HUNKS[number // 2 % len(HUNKS)]:
            stand = "changed" if number % 2 else "same"
            path, lines = next(each for each in free[stand] if len(each[1]) >= hunks)
            raw = _edited(where.source(path), lines[:hunks], FIRST + number)
            changes[path] = Content(where.base[path].mode, raw)
        name = f"{FIRST + number}"
        commits.append(
            NewCommit(f"refs/pull/{name}/head", "bench", START, name, (main[0],), changes)
        )
    return list(enumerate(write_commits(repository, commits), FIRST))


def _files(where: Between, stand: str) -> Iterator[tuple[str, list[int]]]:
    """Files that upstream left alone or changed, each with lines before which to add one."""
    paths = [path for path in where.base if path.startswith(NEAR) and path.endswith(".py")]
    paths = [path for path in paths if where.stand(path) == stand and path not in where.renamed]
    where.read_ahead(paths)
    for path in paths:
        source = where.source(path)
        regions = where.regions.get(path, [])
        chosen: list[int] = []
        for point in points(source, "note") if is_python(source) else []:
            gap = min((_gap(point.at, each) for each in regions), default=APART)
            fits = gap > 1 and (chosen or not regions or gap <= CLOSE)
            if (
                fits
                and _is_single(source, point.at)
                and point.at >= (chosen or [-APART])[-1] + APART
            ):
                chosen.append(point.at)
        yield path, chosen


def _gap(at: int, region: Region) -> int:
    """Lines that stay as they are between an added line and what upstream changed."""
    return max(region.old - at, at - region.old_end, 0)


def _is_single(source: bytes, at: int) -> bool:
    """Whether the lines around a place stand nowhere else, so that it is told by them."""
    lines = source.splitlines()
    return all(line.strip() and lines.count(line) == 1 for line in lines[at - 1 : at + 1])


def _edited(source: bytes, places: Sequence[int], number: int) -> bytes:
    lines = source.splitlines(keepends=True)
    for at in reversed(places):
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines.insert(at, indent + b"carried_%d = %d\n" % (number, at))
    return b"".join(lines)
