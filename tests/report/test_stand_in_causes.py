"""Each conflict of the stand-in's pull requests names its cause, as the stand-in was made."""

import re
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from tests.report.conftest import Told
from tests.report.reading import entry_of, hunks_of
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying
from tests.upstream.stand_in.specs import PULLS, PullSpec

OLD, NEW = "v0.31.0", "v0.32.0"


def brought_by(upstream: Path, path: str, first: int, count: int) -> set[str]:
    """Who brought these lines of the newer release, by git's own blame."""
    lines = ("-L", f"{first},+{count}")
    said = git(upstream, "blame", "--porcelain", *lines, NEW, "--", path).decode()
    return set(re.findall(r"^([0-9a-f]{40}) \d", said, re.MULTILINE))


def touched_by(upstream: Path, path: str) -> list[str]:
    """Upstream's commits that change a file, oldest first."""
    said = git(upstream, "log", "--reverse", "--format=%H", f"{OLD}..{NEW}", "--", path)
    return said.decode().split()


@pytest.fixture
def watching(carrying: Carrying) -> Carrying:
    """A lane on the new release that watches all of them, so that each is tried alone."""
    text = carrying.series.read_text().replace("0.31.0", "0.32.0")
    numbers = ", ".join(str(spec.number) for spec in PULLS)
    carrying.series.write_text(text.replace("\n[model]", f"watch = [{numbers}]\n\n[model]"))
    assert carrying.run("fetch") == 0
    return carrying


def test_each_conflict_names_the_commit_that_brought_what_it_meets(
    watching: Carrying, told: Told
) -> None:
    report = told(watching, code=0)
    seen = 0
    for spec in PULLS:
        for part, hunk in hunks_of(report, str(spec.number)).items():
            path = part.partition(":")[0]
            if hunk["outcome"] == "file missing":
                assert touched_by(watching.upstream, path)[-1] == hunk["cause"]["commit"]["id"]
            elif hunk.get("open"):
                ours = hunk["sides"]["ours"]
                brought = brought_by(watching.upstream, path, ours["first"], len(ours["lines"]))
                assert brought == {hunk["cause"]["commit"]["id"]}
            else:
                continue
            seen += 1
    shapes = [spec.shape for spec in PULLS]
    assert seen == sum(shape.conflicting_hunks + shape.missing_hunks for shape in shapes)


def first_break(carrying: Carrying, spec: PullSpec) -> str | None:
    """The first of upstream's commits onto which git cannot merge the pull request, by its hands."""
    head = f"refs/pull/{spec.number}/head"
    base = git(carrying.upstream, "merge-base", "main", head).decode().strip()
    said = git(carrying.upstream, "log", "--reverse", "--format=%H", f"{base}..{NEW}").decode()
    for commit in said.split():
        try:
            git(carrying.upstream, "merge-tree", "--write-tree", commit, head)
        except CalledProcessError:
            return commit
    return None


def test_the_first_commit_at_which_each_stops_merging(watching: Carrying, told: Told) -> None:
    report = told(watching, code=0)
    for spec in PULLS:
        turns = entry_of(report, str(spec.number)).get("turns", [])
        first = turns[0]["commit"]["id"] if turns else None
        assert first == first_break(watching, spec), spec.number
    assert sum("turns" in entry for entry in report["entries"]) == 4
