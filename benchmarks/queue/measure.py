"""All rows, in one folder."""

import statistics
from dataclasses import dataclass
from pathlib import Path

from benchmarks.queue.crowd import matrix_row
from benchmarks.queue.growth import growth_rows
from benchmarks.queue.lane import Bench, commit_pin
from benchmarks.queue.pulls import make_pulls
from benchmarks.queue.rows import Row
from benchmarks.queue.series import series_rows
from lanewright.errors import ExitCode
from lanewright.store.release import hand_over
from lanewright.terminal import stage
from tests.upstream.stand_in.repository import COMMITS, StandIn, build
from tests.upstream.stand_in.shape import merge_base
from tests.upstream.stand_in.trees import of_wheel
from tests.upstream.used import name_in_a_test

REPORT_MOST = 5.0
# A module that nothing imports, and who brings it: a test must say that it is wanted.
ALONE, ALONE_BY = "vllm/model_executor/layers/fused_moe/uva_bank.py", 97943


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        entries: Of the two series.
        commits: Of upstream's between the two releases.
        lines: Of the large file.
        files: Of the large pull request.
        crowd: Pull requests that are held against each other.
        repeats: How often each is built.
    """

    entries: tuple[int, int] = (10, 50)
    commits: int = COMMITS
    lines: int = 300_000
    files: int = 2_000
    crowd: int = 40
    repeats: int = 5


def measure(folder: Path, old: Path, new: Path, size: Size) -> list[Row]:
    """Measure everything.

    Args:
        folder: For all that is made.
        old: Wheel of the release that the pull requests are made on.
        new: Wheel of the release that the lanes stand on.
        size: How much.
    """
    upstream = folder / "upstream.git"
    with stage("making the stand-in upstream and the pull requests"):
        made = build(upstream, of_wheel(old), of_wheel(new), commits=size.commits)
        pulls = make_pulls(made.repository, made.main, max(size.entries))
        bench = Bench(folder)
        bench.start(upstream)
        release, _ = hand_over(bench.places, new)
    rows = series_rows(
        bench,
        upstream,
        made.main,
        pulls,
        version=release.version,
        sizes=size.entries,
        repeats=size.repeats,
    )
    rows.append(_report_row(bench, made, release.version, size.repeats))
    rows.append(
        matrix_row(
            bench,
            made.repository,
            made.main,
            count=size.crowd,
            version=release.version,
            repeats=min(size.repeats, 3),
        )
    )
    rows += growth_rows(
        folder / "growth", lines=size.lines, files=size.files, repeats=min(size.repeats, 3)
    )
    return rows


def _report_row(bench: Bench, made: StandIn, version: str, repeats: int) -> Row:
    """The report over the stand-in's six pull requests, most of which conflict."""
    pulls = [
        (number, head, merge_base(made.repository, f"refs/pull/{number}/head"))
        for number, head in made.heads.items()
    ]
    bench.mixed_lane("report", commit_pin(made.main[-1], version), pulls)
    name_in_a_test(bench.root, [ALONE], ALONE_BY)
    conflicts = (ExitCode.CLEAN, ExitCode.CONFLICT)
    bench.run("report", "report", ok=conflicts)
    took = [bench.run("report", "report", ok=conflicts).seconds for _ in range(repeats)]
    name = f"report of {len(pulls)} pull requests"
    return Row(name, statistics.median(took), "s", most=REPORT_MOST)
