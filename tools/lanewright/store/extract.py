"""What lanes need of upstream's commits, taken out once and kept whole.

The store is a partial clone: a commit that was fetched has its trees, but few of its contents. An
extract is a commit of ours with every content in it, so that what it was made for can be built
without network, be put into a bundle, and be taken from one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.store.bindings import (
    SUBMODULE,
    Both,
    Op,
    bound_ops,
    notes_of,
    ops_noted,
    pieces_among,
)
from lanewright.store.fetching import fetch_blobs, fetch_commits
from lanewright.store.git import Repository
from lanewright.store.locking import writing
from lanewright.store.objects import (
    EMPTY,
    FOLDER,
    NO_BLOB,
    CommitId,
    File,
    TreeId,
    changes,
    commit_at,
    commits_named,
    entries,
    files,
    lacking,
    tree_of,
)
from lanewright.store.odb import objects_of
from lanewright.store.remote import Remote
from lanewright.store.safepath import check
from lanewright.store.trees import edit_tree, flat_trees
from lanewright.store.write import commit, set_ref, set_refs

ROOT = "vllm"
OUTSIDE = "outside "
SUB = "submodule "
SUBS = re.compile(rf"^{SUB}(.+)$", re.MULTILINE)
COUNT = re.compile(rf"^{OUTSIDE}(\d{{1,9}})$", re.MULTILINE)
NO_REMOTE = "upstream.toml names no git remote to fetch it from"
REMOTE_HINT = (
    'add a table [git] with url = "https://github.com/vllm-project/vllm.git", or hand over a bundle'
    " with `lanewright fetch --bundle FILE`"
)


@dataclass(frozen=True)
class PullTrees:
    """A pull request's changed files below ``vllm/``, before and after, and nothing else.

    Attributes:
        base: Tree of the files as its base has them.
        head: Tree of the files as its head has them.
        outside: How many files it changes elsewhere.
        ops: The compiled ops that it binds there and its base does not.
        submodules: Paths below ``vllm/`` that are a submodule on one side, left out of both trees.
    """

    base: TreeId
    head: TreeId
    outside: int
    ops: tuple[Op, ...] = ()
    submodules: tuple[str, ...] = ()


def pin_ref(pinned: CommitId) -> str:
    """Where the extract of a pin is kept."""
    return f"refs/pins/{pinned}"


def pull_refs(base: CommitId, head: CommitId) -> tuple[str, str]:
    """Where the two extracts of a pull request are kept."""
    return f"refs/pulls/{base}/{head}/base", f"refs/pulls/{base}/{head}/head"


def pin_tree(places: Places, remote: Remote | None, pinned: CommitId) -> TreeId:
    """The ``vllm/`` of a commit as a tree of its own; fetched when the store lacks it.

    Raises:
        LanewrightError: It cannot be had, or has no ``vllm/``.
        UnsafePathError: A path in it would leave the tree.
    """
    [kept] = _commits(places, [pin_ref(pinned)])
    if kept:
        known = tree_of(Repository(places.objects), kept)
        _require_same(known, _root_of(places, pinned), f"the pin {pinned}")
        return known
    bring_commits(places, remote, [pinned], f"the pin {pinned}")
    repository = Repository(places.objects)
    tree = _root_of(places, pinned)
    if tree is None:
        raise LanewrightError(f"commit {pinned} has no {ROOT}/, so it is none of vLLM's")
    listed = files(repository, tree)
    require_fit(listed.items(), f"commit {pinned}")
    fill(places, remote, listed.values(), f"the pin {pinned}")
    with writing(places) as held:
        set_ref(held, pin_ref(pinned), commit(held, tree, f"{ROOT}/ of {pinned}\n"))
    return tree


def pull_trees(
    places: Places, remote: Remote | None, base: CommitId, head: CommitId, *, name: str = ""
) -> PullTrees:
    """A pull request's changed files on both sides; fetched when the store lacks them.

    Args:
        places: The store.
        remote: Where it is fetched from.
        base: The commit that it is a change of.
        head: Its commit.
        name: What it is called in messages.

    Raises:
        LanewrightError: They cannot be had, or nothing below ``vllm/`` is changed.
        UnsafePathError: A path would leave the tree.
    """
    refs = pull_refs(base, head)
    what = f"the change {base[:12]}..{head[:12]}"
    before, after = _commits(places, refs)
    if before and after:
        repository = Repository(places.objects)
        base_tree, head_tree = (tree_of(repository, each) for each in (before, after))
        if all(commit_at(repository, each) for each in (base, head)):
            inside, _ = changed_files(repository, base, head)
            _take_submodules(inside, what)
            for tree, side in ((base_tree, 0), (head_tree, 1)):
                expected = {path: file for path, each in inside.items() if (file := each[side])}
                _require_same(files(repository, tree), expected, what)
        return PullTrees(base_tree, head_tree, *_kept(repository, after, refs[1]))
    bring_commits(places, remote, [base, head], what)
    repository = Repository(places.objects)
    inside, outside = changed_files(repository, base, head)
    submodules = _take_submodules(inside, what)
    if not inside:
        raise LanewrightError(
            f"{f'{name}, ' if name else ''}the change {base}..{head} touches nothing below {ROOT}/ ({len(outside)} files elsewhere),"
            " and a lane carries nothing else"
        )
    listed = [(path, side) for path, sides in inside.items() for side in sides]
    require_fit(listed, what)
    pieces = pieces_among(outside)
    beside = [file for sides in pieces.values() for file in sides if file]
    fill(places, remote, [*(file for _, file in listed if file), *beside], what)
    ops = bound_ops(repository, pieces)
    noted = notes_of(ops) + "".join(f"{SUB}{path}\n" for path in submodules)
    trees = [
        edit_tree(repository, EMPTY, {p: sides[side] for p, sides in inside.items() if sides[side]})
        for side in (0, 1)
    ]
    with writing(places) as held:
        made = {
            ref: commit(
                held, tree, f"{base}..{head}\n\nof {which}\n{OUTSIDE}{len(outside)}\n{noted}"
            )
            for ref, tree, which in zip(refs, trees, (base, head), strict=True)
        }
        set_refs(held, made)
    return PullTrees(trees[0], trees[1], len(outside), ops, submodules)


def _commits(places: Places, refs: Sequence[str]) -> list[CommitId | None]:
    if not places.objects.exists():
        return [None] * len(refs)
    return commits_named(Repository(places.objects), refs)


def _root_of(places: Places, pinned: CommitId) -> TreeId | None:
    """The tree that an extract of a commit has; None where the store lacks it, or it has none."""
    repository = Repository(places.objects)
    inside = entries(repository, TreeId(pinned)) if commit_at(repository, pinned) else {}
    if ROOT not in inside or inside[ROOT].mode != FOLDER:
        return None
    return flat_trees(repository, [{ROOT: inside[ROOT]}])[0]


def changed_files(
    repository: Repository, base: CommitId, head: CommitId
) -> tuple[dict[str, Both], dict[str, Both]]:
    """Changed files below ``vllm/`` with both sides, and those elsewhere.

    Raises:
        LanewrightError: The change puts something else in the place of ``vllm/`` itself.
    """
    before, after = (_tree(repository, name) for name in (base, head))
    changed = changes(repository, before, after)
    if ROOT in changed:
        raise LanewrightError(f"the change {base}..{head} puts a file in the place of {ROOT}/")
    inside = {path: sides for path, sides in changed.items() if path.startswith(f"{ROOT}/")}
    return inside, {path: sides for path, sides in changed.items() if path not in inside}


def _take_submodules(inside: dict[str, Both], what: str) -> tuple[str, ...]:
    """Take what is a submodule on one side out of the changed files.

    Raises:
        LanewrightError: Nothing else is changed.
        UnsafePathError: Its path would leave the tree.
    """
    found = [p for p, sides in inside.items() if any(s and s.mode == SUBMODULE for s in sides)]
    if len(found) == len(inside):
        require_fit([(path, File(SUBMODULE, NO_BLOB)) for path in found], what)
    for path in found:
        del inside[check(path, source=what)]
    return tuple(found)


def _require_same(known: object, real: object, what: str) -> None:
    """Hold an extract, which may have come in a bundle, against the commits where they are here.

    Raises:
        MismatchError: It is another.
    """
    if real is not None and known != real:
        raise MismatchError(
            f"the store's extract of {what} is not what upstream's commits hold",
            hint="it came with a bundle that is not to be trusted: remove the store, and fetch",
        )


def require_fit(listed: Iterable[tuple[str, File | None]], source: str) -> None:
    """See that a lane's tree can hold these files.

    Raises:
        LanewrightError: One is a submodule, or lies in the place of a folder.
        UnsafePathError: A path would leave the tree.
    """
    named = dict(listed)
    for path, file in named.items():
        check(path, source=source)
        if file and file.mode == SUBMODULE:
            raise LanewrightError(
                f"{source}: {path} is a submodule, and a lane's tree can have none"
            )


def _tree(repository: Repository, commit: CommitId) -> TreeId:
    if commit_at(repository, commit) != commit:
        raise LanewrightError(f"{commit} is no commit", hint="lanewright fetch")
    return tree_of(repository, commit)


def _kept(
    repository: Repository, kept: CommitId, ref: str
) -> tuple[int, tuple[Op, ...], tuple[str, ...]]:
    message = objects_of(repository).read(kept)[1].decode("utf-8", "replace")
    found = COUNT.search(message)
    if found is None:
        raise LanewrightError(f"{ref} in the store is no extract of ours", hint="remove the store")
    return int(found[1]), ops_noted(message), tuple(SUBS.findall(message))


def bring_commits(
    places: Places, remote: Remote | None, commits: Iterable[CommitId], what: str
) -> None:
    """Have commits with their trees in the store; those that are there are not asked for.

    Raises:
        LanewrightError: They cannot be had.
    """
    wanted = list(commits)
    here = (places.objects / "objects/info").exists()
    absent = [c for c in wanted if not here or not commit_at(Repository(places.objects), c)]
    if absent and remote is None:
        raise LanewrightError(f"the store lacks {what}, and {NO_REMOTE}", hint=REMOTE_HINT)
    if absent and remote:
        fetch_commits(places, remote, absent)


def fill(places: Places, remote: Remote | None, listed: Iterable[File], what: str) -> None:
    """Have every one of these contents in the store.

    Raises:
        LanewrightError: They cannot be had.
    """
    wanted = list(dict.fromkeys(file.blob for file in listed))
    if remote:
        fetch_blobs(places, remote, wanted)
    elif absent := lacking(Repository(places.objects), wanted):
        raise LanewrightError(
            f"the store lacks {len(absent)} files of {what}, such as {absent[0]}, and {NO_REMOTE}",
            hint=REMOTE_HINT,
        )
