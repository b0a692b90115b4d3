"""A registry that is a folder, by a program in skopeo's place."""

import hashlib
import json
import sys
from pathlib import Path

# `inspect --raw ... SOURCE` prints what has the digest; `copy ... SOURCE dir:FOLDER` lays it out.
SKOPEO = f"""\
#!{sys.executable}
import pathlib, shutil, sys
served, words = pathlib.Path({{served!r}}), sys.argv[1:]
source = next(word for word in words if word.startswith("docker://"))
document = served / source.rpartition(":")[2]
if "inspect" in words:
    sys.stdout.buffer.write(document.read_bytes())
else:
    folder = pathlib.Path(words[-1].removeprefix("dir:"))
    folder.mkdir()
    for file in served.iterdir():
        shutil.copyfile(file, folder / file.name)
    shutil.copyfile(document, folder / "manifest.json")
"""


def serving(folder: Path) -> Path:
    """Have the program in a folder for PATH, and what it serves beside it."""
    served, programs = folder / "served", folder / "programs"
    served.mkdir()
    programs.mkdir()
    (programs / "skopeo").write_text(SKOPEO.format(served=str(served)))
    (programs / "skopeo").chmod(0o755)
    return programs


def put(served: Path, content: bytes) -> str:
    """Serve a document; its digest."""
    name = hashlib.sha256(content).hexdigest()
    (served / name).write_bytes(content)
    return f"sha256:{name}"


def publish(served: Path, layout: Path) -> str:
    """Serve a layout's one image; its digest."""
    for blob in (layout / "blobs/sha256").iterdir():
        (served / blob.name).write_bytes(blob.read_bytes())
    (listed,) = json.loads((layout / "index.json").read_bytes())["manifests"]
    return str(listed["digest"])
