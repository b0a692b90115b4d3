"""A bundle as whoever gets it reads it."""

import hashlib
import tarfile
from pathlib import Path

from lanewright.__main__ import run
from lanewright.places import Places


def bundled(places: Places, word: str, out: Path, *more: str) -> dict[str, bytes]:
    """Make a bundle, see that it is whole, and read its files."""
    assert places.state.is_dir()
    assert run(["-C", str(out.parent), "bundle", word, "--out", str(out), *more]) == 0
    return opened(out)


def opened(file: Path) -> dict[str, bytes]:
    """Files of a bundle by their names below its folder; its manifest names each of them."""
    with tarfile.open(file) as archive:
        members = archive.getmembers()
        found = {each.name: archive.extractfile(each).read() for each in members}  # type: ignore[union-attr]
    assert {(each.uid, each.gid, each.uname, each.gname, each.mode) for each in members} == {
        (0, 0, "", "", 0o644)
    }
    (top,) = {name.partition("/")[0] for name in found}
    files = {name.partition("/")[2]: content for name, content in found.items()}
    manifest = files["MANIFEST.sha256"].decode().splitlines()
    told = {line[66:]: line[:64] for line in manifest}
    assert told == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in files.items()
        if name != "MANIFEST.sha256"
    }
    assert next(iter(files)) == "README.md"
    assert files["README.md"].startswith(f"# lanewright bundle: {top}\n".encode())
    return files
