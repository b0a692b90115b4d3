"""Large changes: a file of very many lines, a pull request of very many files, each at two sizes."""

import statistics
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.queue.lane import Bench, commit_pin
from benchmarks.queue.rows import Row
from benchmarks.queue.timing import Spent
from lanewright.store.git import Repository, create
from lanewright.store.write import Content
from lanewright.terminal import say
from tests.upstream.stand_in.history import serve_settings
from tests.upstream.stand_in.stream import START, NewCommit, write_commits

# Twice the size is to take twice the time, give or take what a busy machine adds.
LINEAR = 2.5
MOST_MEMORY = 500.0
MEGABYTE = 10**6
EDITS = 200
APART = 100
VERSION = "0.32.0"

Files = Mapping[str, Content]
# A file's or tree's base, what upstream makes of it, and the pull request.
Sides = tuple[Files, Files, Files]


def growth_rows(folder: Path, *, lines: int, files: int, repeats: int) -> list[Row]:
    """Measure both, at half their size and whole.

    Args:
        folder: For all that is made; not there yet.
        lines: Of the large file; ``EDITS`` of them are edited, and as many by upstream: git's own
            diff takes more than twice the time for twice the edits.
        files: Of the large pull request; upstream changed every other one.
        repeats: How often each is built.
    """
    bench, upstream = Bench(folder), create(folder / "upstream.git")
    serve_settings(upstream.path)
    bench.start(upstream.path)
    edits = min(EDITS, lines // 2 // APART)
    cases: list[tuple[str, str, int, Callable[[int], Sides]]] = [
        (
            "lines",
            f"a file of {{}} lines, {edits} edited on each side",
            lines,
            lambda count: _of_lines(count, edits),
        ),
        ("files", "a pull request of {} files", files, _of_files),
    ]
    rows = []
    for number, (kind, told, size, sides) in enumerate(cases, 1):
        half, whole = (
            _built(bench, upstream, f"{kind}-{each}", number, sides(each), repeats)
            for each in (size // 2, size)
        )
        took = [statistics.median(each.seconds for each in found) for found in (half, whole)]
        peak = max(each.peak for each in whole) / MEGABYTE
        name = told.format(f"{size:,}")
        rows += [
            Row(name, took[1], "s", "half of it", took[0], most=LINEAR),
            Row(f"{name}: memory", peak, "MB", most=MOST_MEMORY),
        ]
        say(f"{name}: done")
    return rows


def _built(
    bench: Bench, upstream: Repository, lane: str, number: int, sides: Sides, repeats: int
) -> list[Spent]:
    base, pin, head = sides
    ref = f"refs/heads/{lane}"
    commits = write_commits(
        upstream,
        [
            NewCommit(ref, "bench", START, "base", (), base),
            NewCommit(ref, "bench", START, "pin", (":1",), pin),
            NewCommit(f"refs/pull/{number}/head", "bench", START, "head", (":1",), head),
        ],
    )
    bench.lane(lane, commit_pin(commits[1], VERSION), commits[0], [(number, commits[2])])
    bench.build(lane)  # brings the objects
    return [bench.build(lane) for _ in range(repeats)]


def _of_lines(count: int, edits: int) -> Sides:
    base = [b'    "key_%d": %d,\n' % (number, number) for number in range(count)]
    pin, head = list(base), list(base)
    apart = count // edits
    for number in range(1, apart * edits, apart):
        head[number] = b'    "key_%d": "ours",\n' % number
        other = min(number + apart // 2, count - 1)
        pin[other] = b'    "key_%d": "upstream",\n' % other
    path = "vllm/generated.json"
    first, second, third = (
        {path: Content("100644", b"{\n" + b"".join(each) + b"}\n")} for each in (base, pin, head)
    )
    return first, second, third


def _of_files(count: int) -> Sides:
    paths = [f"vllm/many/{number // APART}/{number}.py" for number in range(count)]
    before = b"".join(b"line_%d = 0\n" % number for number in range(40))
    base = {path: Content("100644", before) for path in paths}
    upstreams = Content("100644", before.replace(b"line_1 = 0\n", b"line_1 = 1\n"))
    ours = Content("100644", before.replace(b"line_20 = 0\n", b"line_20 = 1\n"))
    return base, dict.fromkeys(paths[::2], upstreams), dict.fromkeys(paths, ours)
