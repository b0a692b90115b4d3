"""A layer, member by member, against the trees that it is to lead from and to."""

import tarfile

from lanewright.image.layer import KINDS, WHITEOUT, compiled_of, folders_of
from lanewright.image.tar import SECONDS, Member, pack, unpack
from lanewright.image.told_version import VERSION_FILE, version_file
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.store.objects import File, blob_id, files

FIXED = (0, 0, "", "", SECONDS)
MODES = {kind: mode for mode, kind in KINDS.items()}


def wrong_members(repository: Repository, lock: Lock, content: bytes) -> list[str]:
    """Where a layer unpacked over the pin's tree does not give the lane's; empty if it does.

    Args:
        repository: Holds both trees.
        lock: Names them, and the folder that the members are to be in.
        content: The archive.
    """
    root = layer_of(lock).site_packages.removeprefix("/") + "/"
    try:
        members = unpack(content)
    except tarfile.TarError as error:
        return [f"the layer is no archive: {error}"]
    told = []
    if pack(member for _, member in members) != content:
        told.append("the layer is not packed as its members would be")
    within: list[Member] = []
    seen: set[str] = set()
    for info, member in members:
        if (info.uid, info.gid, info.uname, info.gname, info.mtime) != FIXED:
            told.append(f"{member.path} has another owner, group or time")
        if member.path in seen:
            told.append(f"{member.path} is in the layer twice")
        seen.add(member.path)
        if member.path.startswith(root):
            path = member.path.removeprefix(root)
            within.append(Member(path, member.kind, member.mode, member.content))
        else:
            told.append(f"{member.path} is in the layer, outside {root}")
    return told + _unlike(repository, lock, _without_version(lock, within, told))


def _without_version(lock: Lock, members: list[Member], told: list[str]) -> list[Member]:
    version = layer_of(lock).version
    wanted = [Member(VERSION_FILE, tarfile.REGTYPE, 0o644, version_file(version))]
    if [member for member in members if member.path == VERSION_FILE] != wanted[: bool(version)]:
        told.append(f"{VERSION_FILE} does not tell {version or 'the version of the image'}")
    return [member for member in members if member.path != VERSION_FILE]


def _unlike(repository: Repository, lock: Lock, members: list[Member]) -> list[str]:
    before, after = files(repository, lock.pin.tree), files(repository, lock.tree)
    now = dict(before)
    told = []
    folders = set()
    had = folders_of(before)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    root = layer_of(lock).site_packages
    stale = {name for path in changed for name in compiled_of(path, root, had)}
    for member in members:
        folder, slash, name = member.path.rpartition("/")
        if name.startswith(WHITEOUT):
            path = f"{folder}{slash}{name.removeprefix(WHITEOUT)}"
            if path in stale:
                stale.remove(path)
                continue
            if path not in now:
                told.append(f"{path} is removed by the layer, and the pin has no such file")
            now.pop(path, None)
        elif (member.kind, member.mode) == (tarfile.DIRTYPE, 0o755):
            folders.add(member.path)
            now.pop(member.path, None)
        else:
            if member.path in had:
                below = f"{member.path}/"
                now = {path: now[path] for path in now if not path.startswith(below)}
            mode = MODES.get((member.kind, member.mode), "other")
            now[member.path] = File(mode, blob_id(member.content))
            if now[member.path] == before.get(member.path):
                told.append(f"{member.path} is in the layer, and the pin has the same")
    told += [f"{path} is left to the base, and is of a changed module" for path in sorted(stale)]
    told += [
        f"{path} {_how(now, after, path)}"
        for path in sorted(now.keys() | after.keys())
        if now.get(path) != after.get(path)
    ]
    wanted = folders_of(after) - had
    told += [f"{path}/ is no new folder of the tree" for path in sorted(folders - wanted)]
    told += [f"{path}/ is missing in the layer" for path in sorted(wanted - folders)]
    return told


def _how(now: dict[str, File], after: dict[str, File], path: str) -> str:
    if path not in after:
        return "is there with the layer, and not in the tree"
    if path not in now:
        return "is in the tree, and not there with the layer"
    return "is another with the layer than in the tree"
