"""The whole stand-in upstream: history, tags, pull requests, and how it is served."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId
from tests.upstream.stand_in.history import build_main, serve_settings
from tests.upstream.stand_in.pulls import build_pull
from tests.upstream.stand_in.specs import PULLS
from tests.upstream.stand_in.trees import Tree

COMMITS = 200


@dataclass(frozen=True)
class StandIn:
    """A bare repository to fetch from.

    Attributes:
        path: Its folder; ``git daemon`` can serve it.
        main: The commits of ``main``, oldest first.
        heads: The head of each pull request, by number.
    """

    path: Path
    main: tuple[CommitId, ...]
    heads: Mapping[int, CommitId]

    @property
    def repository(self) -> Repository:
        """Git in it."""
        return Repository(self.path)


def build(folder: Path, old: Tree, new: Tree, *, commits: int = COMMITS) -> StandIn:
    """Make a stand-in upstream from two releases' trees, in a folder that is not there yet.

    The same trees give the same ids every time.
    """
    assert not folder.exists() or not any(folder.iterdir()), f"{folder} is in use"
    main = build_main(folder, old, new, commits=commits)
    heads = {spec.number: build_pull(Repository(folder), main, spec) for spec in PULLS}
    serve_settings(folder)
    return StandIn(folder, main, heads)
