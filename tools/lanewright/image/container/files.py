"""Whether a container sees what the lane's lock says."""

import hashlib
from collections.abc import Mapping

import msgspec

from lanewright.errors import MismatchError
from lanewright.image.told_version import VERSION_FILE, version_file
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.store.objects import File, changes, read_blobs


def expected_files(repository: Repository, lock: Lock) -> dict[str, str | None]:
    """Every file that the lane changes, by its path in the image; None for one that it removes.

    Values are as ``inside/hashes.py`` prints them.
    """
    layer = layer_of(lock)
    changed = changes(repository, lock.pin.tree, lock.tree)
    new: dict[str, File] = {path: file for path, (_, file) in changed.items() if file}
    contents = read_blobs(repository, [file.blob for file in new.values()])
    found: dict[str, str | None] = dict.fromkeys(changed)
    for path, file in new.items():
        content = contents[file.blob]
        is_link = file.mode == "120000"
        found[path] = f"->{content.decode()}" if is_link else hashlib.sha256(content).hexdigest()
    if layer.version:
        found[VERSION_FILE] = hashlib.sha256(version_file(layer.version)).hexdigest()
    return {f"{layer.site_packages}/{path}": value for path, value in sorted(found.items())}


def require_same_files(lock: Lock, expected: Mapping[str, str | None], printed: str) -> None:
    """Compare what a container printed.

    Raises:
        MismatchError: A file is another there; the message names each.
    """
    try:
        found = msgspec.json.decode(printed, type=dict[str, str | None])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise MismatchError(
            f"lane {lock.lane}: the container does not say what files it sees: {error}",
            hint=f"lanewright verify --image {lock.lane}",
        ) from error
    told = [
        f"  {path} is {found.get(path) or 'not there'}, not {value or 'absent'}"
        for path, value in expected.items()
        if found.get(path) != value
    ]
    if told:
        raise MismatchError(
            f"lane {lock.lane}: the container does not see what its lock says:\n" + "\n".join(told),
            hint=f"lanewright verify --image {lock.lane}",
        )
