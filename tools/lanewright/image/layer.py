"""What a lane changed, as the members of one image layer."""

import re
import tarfile
from collections.abc import Iterable

from lanewright.errors import LanewrightError
from lanewright.image.tar import Member, pack
from lanewright.image.told_version import VERSION_FILE, version_file
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, changes, files, read_blobs

WHITEOUT = ".wh."
KINDS = {
    "100644": (tarfile.REGTYPE, 0o644),
    "100755": (tarfile.REGTYPE, 0o755),
    "120000": (tarfile.SYMTYPE, 0o777),
}
COMPILED = re.compile(
    r"(csrc|cmake)/.*|(.*/)?(CMakeLists\.txt|setup\.py)"
    r"|.*\.(c|cc|cmake|cpp|cu|cuh|cxx|h|hip|hpp|so)",
    re.DOTALL,
)
# Of an image's Python, as its folder of packages tells it.
MINOR = re.compile(r"/python3\.(\d+)/")
LEVELS = ("", ".opt-1", ".opt-2")


class LayerError(LanewrightError):
    """A changed file that an overlay layer cannot carry.

    Args:
        path: The file.
        why: The rest of the sentence that it begins.
    """

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path} {why}",
            hint="leave the file out; or have the lane built from source, with"
            ' kind = "source" in place of site_packages in [image] of its series; or make no image of'
            " it: take [image] out",
        )
        self.path = path
        self.why = why


def layer_content(
    repository: Repository,
    before: TreeId,
    after: TreeId,
    site_packages: str,
    version: str | None = None,
) -> bytes:
    """The layer that turns one tree into another where an image holds it in ``site_packages``.

    Whiteouts come first, then files and new folders, each part sorted. A file in the place of a
    folder, or a folder in that of a file, needs no whiteout: unpacking it removes what was there.

    Args:
        repository: The store.
        before: The pin's tree, which the image has already.
        after: The lane's tree.
        site_packages: Absolute path of a folder.
        version: What ``vllm`` is to call itself; by default what the image has.

    Raises:
        LayerError: A changed file needs compiling, or its name means something else in a layer.
    """
    changed = changes(repository, before, after)
    for path in changed:
        _require_plain(path)
    new = {path: file for path, (_, file) in changed.items() if file}
    had = folders_of(files(repository, before)) if changed else set()
    folders = folders_of(new) - had
    gone = [path for path in changed.keys() - new.keys() - folders if not _above(path) & new.keys()]
    contents = read_blobs(repository, [file.blob for file in new.values()])
    stale = [name for path in changed for name in compiled_of(path, site_packages, had)]
    whiteouts = [Member(_whiteout(path), tarfile.REGTYPE, 0o644) for path in (*gone, *stale)]
    present = [Member(path, tarfile.DIRTYPE, 0o755) for path in folders]
    present += [Member(path, *KINDS[file.mode], contents[file.blob]) for path, file in new.items()]
    if version is not None:
        present.append(Member(VERSION_FILE, tarfile.REGTYPE, 0o644, version_file(version)))
    root = site_packages.removeprefix("/")
    return pack(
        Member(f"{root}/{member.path}", member.kind, member.mode, member.content)
        for part in (whiteouts, present)
        for member in sorted(part, key=lambda member: member.path)
    )


def compiled_of(path: str, site_packages: str, had: set[str]) -> list[str]:
    """Bytecode that an image may hold of a module, which Python could take for that of a new one.

    Args:
        path: A changed file.
        site_packages: Absolute path of a folder, which tells the Python where it is one's own.
        had: Folders that the image has already.
    """
    folder, _, name = path.rpartition("/")
    minor = MINOR.search(f"{site_packages}/")
    if not minor or folder not in had or not name.endswith(".py"):
        return []
    stem = f"{folder}/__pycache__/{name.removesuffix('.py')}.cpython-3{minor[1]}"
    return [f"{stem}{level}.pyc" for level in LEVELS]


def _require_plain(path: str) -> None:
    if path == VERSION_FILE:
        raise LayerError(path, "is written by the image itself: it tells the lane's version")
    if COMPILED.fullmatch(path):
        raise LayerError(
            path,
            "needs compiling, and an overlay layer holds only what Python reads as it is",
        )
    if any(part.startswith(WHITEOUT) for part in path.split("/")):
        raise LayerError(path, f"has a part that begins with {WHITEOUT}: a removal, in a layer")


def folders_of(paths: Iterable[str]) -> set[str]:
    """Every folder that a file of these is in."""
    return set[str]().union(*(_above(path) for path in paths))


def _above(path: str) -> set[str]:
    folders = set()
    while path := path.rpartition("/")[0]:
        folders.add(path)
    return folders


def _whiteout(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{WHITEOUT}{name}"
