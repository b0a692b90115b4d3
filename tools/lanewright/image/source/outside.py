"""What a pull request changes outside ``vllm/`` and a build reads: a lane's tree has none of it."""

import re
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.queue.carried import Carried
from lanewright.queue.closure.closed import view_of_tree
from lanewright.queue.closure.compiled import uncompiled
from lanewright.queue.lock import Lock, LockedPull
from lanewright.queue.quilt import DIFF
from lanewright.store.bindings import SUBMODULE, Both
from lanewright.store.extract import bring_commits, changed_files, fill
from lanewright.store.git import Repository
from lanewright.store.objects import tree_of
from lanewright.store.remote import Remote
from lanewright.store.safepath import check

READ = re.compile(
    r"(csrc|cmake|requirements)/.*|CMakeLists\.txt|setup\.py|pyproject\.toml", re.DOTALL
)


@dataclass(frozen=True)
class Outside:
    """A pull request's files outside ``vllm/``, those that a build reads.

    Attributes:
        number: Of the pull request.
        changed: Each file on both sides.
        diff: What becomes of them, as git prints it, with full ids.
        left: How many others it changes there.
    """

    number: int
    changed: dict[str, Both]
    diff: bytes
    left: int


def is_needed(repository: Repository, lock: Lock, carried: Carried) -> bool:
    """Whether a build needs what an entry changes outside ``vllm/``.

    It does where the entry is carried whole, or a part of it calls an op that it binds there.
    """
    chosen = carried.chosen
    if chosen is None or carried.conflicts:
        return False
    if chosen.taken >= chosen.offered:
        return True
    pin, final = (
        view_of_tree(repository, tree, chosen.on_base.sides) for tree in (lock.pin.tree, lock.tree)
    )
    return bool(uncompiled(chosen, pin, final))


def outside_of(places: Places, remote: Remote | None, pull: LockedPull) -> Outside:
    """Read it from upstream's commits; fetched when the store lacks them.

    Raises:
        LanewrightError: They cannot be had, or a submodule is changed that a build reads.
        UnsafePathError: A path would leave the tree.
    """
    what = f"#{pull.number}"
    bring_commits(places, remote, [pull.base, pull.head], what)
    repository = Repository(places.objects)
    _, outside = changed_files(repository, pull.base, pull.head)
    changed = {check(p, source=what): sides for p, sides in outside.items() if READ.fullmatch(p)}
    for path, sides in changed.items():
        if any(file and file.mode == SUBMODULE for file in sides):
            raise LanewrightError(
                f"{what}: {path} is a submodule, and a change of one is not applied"
            )
    fill(places, remote, [file for sides in changed.values() for file in sides if file], what)
    ends = [tree_of(repository, commit) for commit in (pull.base, pull.head)]
    flags = ("-r", *DIFF, *ends, "--", *changed)
    diff = repository.run("diff-tree", *flags).stdout if changed else b""
    return Outside(pull.number, changed, diff, len(outside) - len(changed))
