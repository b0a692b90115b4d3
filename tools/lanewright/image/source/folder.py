"""The folder that builds a lane's image from source: written whole or not at all."""

import shutil
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.source.outside import Outside
from lanewright.queue.lock import Lock
from lanewright.queue.quilt import DIFF
from lanewright.store.bindings import Both
from lanewright.store.extract import ROOT
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, changes, entries, read_blobs
from lanewright.store.objects import files as files_in
from lanewright.store.scratch import making

LAY = files("lanewright.image.source.inside") / "lay.py"
EXECUTABLE = "100755"
LINK = "120000"


class Laid(msgspec.Struct, frozen=True):
    """A change as ``lay.py`` applies it.

    Attributes:
        name: For messages.
        patch: Its file in the folder.
        files: Ids of each file's content before and after; None where it is not there.
    """

    name: str
    patch: str
    files: dict[str, list[str | None]]


class Told(msgspec.Struct, frozen=True):
    """``lane.json``: what ``lay.py`` has to know.

    Attributes:
        lane: The lane's name.
        ref: What is fetched of upstream.
        commit: It, where the lane stands on one; empty for a release.
        pin_tree: Id of its ``vllm/``.
        modules: Of a release, the ids of its Python files: the tag must have the same.
        pulls: Changes outside ``vllm/``, in order.
        change: That of ``vllm/``.
        tree: Id of what that comes to.
    """

    lane: str
    ref: str
    commit: str
    pin_tree: str
    modules: dict[str, str]
    pulls: list[Laid]
    change: Laid
    tree: str


def write_folder(
    repository: Repository, lock: Lock, outside: Sequence[Outside], containerfile: str, out: Path
) -> None:
    """Write a new folder.

    Args:
        repository: The store.
        lock: The lane.
        outside: What its pull requests change outside ``vllm/``, in order.
        containerfile: Its text.
        out: There is nothing there yet.

    Raises:
        LanewrightError: It cannot be written.
    """
    changed = {
        path: sides
        for path, sides in changes(repository, lock.pin.tree, lock.tree).items()
        if path.startswith(f"{ROOT}/")
    }
    flags = ("-r", *DIFF, lock.pin.tree, lock.tree, "--", *changed)
    diff = repository.run("diff-tree", *flags).stdout if changed else b""
    pulls = [
        Laid(f"#{each.number}", f"pulls/{place:02}-{each.number}.patch", _ids(each.changed))
        for place, each in enumerate(outside, 1)
    ]
    change = Laid(f"lane {lock.lane}", "lane.patch", _ids(changed))
    told = msgspec.json.format(msgspec.json.encode(_told(repository, lock, pulls, change)))
    texts = {"Containerfile": containerfile.encode(), "lane.json": told + b"\n", change.patch: diff}
    texts |= {pull.patch: each.diff for pull, each in zip(pulls, outside, strict=True)}
    try:
        with making(out.parent) as scratch:
            for path, content in texts.items():
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / path).write_bytes(content)
            with as_file(LAY) as script:
                shutil.copyfile(script, scratch / "lay.py")
            _write_beside(repository, lock.tree, scratch / "beside")
            scratch.rename(out)
    except OSError as error:
        raise LanewrightError(f"cannot write {out}: {error.strerror}") from error


def _told(repository: Repository, lock: Lock, pulls: list[Laid], change: Laid) -> Told:
    pin, commit = lock.pin, lock.pin.commit if lock.pin.source == "git" else ""
    listed = {} if commit else files_in(repository, pin.tree)
    return Told(
        lane=lock.lane,
        ref=commit or f"refs/tags/v{pin.version}",
        commit=commit,
        pin_tree=entries(repository, pin.tree)[ROOT].blob,
        modules={path: file.blob for path, file in listed.items() if path.endswith(".py")},
        pulls=pulls,
        change=change,
        tree=entries(repository, lock.tree)[ROOT].blob,
    )


def _ids(changed: Mapping[str, Both]) -> dict[str, list[str | None]]:
    return {
        path: [side.blob if side else None for side in sides] for path, sides in changed.items()
    }


def _write_beside(repository: Repository, tree: TreeId, folder: Path) -> None:
    """Write what a lane lays beside ``vllm/``."""
    listed = {p: f for p, f in files_in(repository, tree).items() if not p.startswith(f"{ROOT}/")}
    contents = read_blobs(repository, [file.blob for file in listed.values()])
    folder.mkdir()
    for path, file in listed.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(contents[file.blob])
        place.chmod(0o755 if file.mode == EXECUTABLE else 0o644)
