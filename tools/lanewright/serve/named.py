"""Models that others trained, where this machine has them."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from lanewright.errors import LanewrightError

CONFIG = "config.json"
SNAPSHOTS = "snapshots"
WEIGHTS = (".safetensors", ".bin", ".pt")


def find_named(
    name: str, place: str | None, lane: str, environ: Mapping[str, str] = os.environ
) -> Path:
    """Find a model on this machine; nothing is downloaded.

    Args:
        name: As vLLM takes it: a folder, or a name on Hugging Face's hub.
        place: Folder or name that the lane's ``[image.run] model`` says instead.
        lane: For messages.
        environ: Says where Hugging Face's cache is: ``HF_HUB_CACHE``, ``HF_HOME`` or
            ``XDG_CACHE_HOME``, as its own library reads them.

    Returns:
        The folder with ``config.json``.

    Raises:
        LanewrightError: It is not here, or not whole.
    """
    wanted = place or name
    if wanted.startswith("/"):
        folder = Path(wanted)
        if not (folder / CONFIG).is_file():
            raise LanewrightError(
                f"lane {lane}: its model's folder {folder} has no {CONFIG}",
                hint="mend `model` in [image.run] of the lane's series",
            )
        return _whole(folder, lane)
    cached = hub_cache(environ) / f"models--{wanted.replace('/', '--')}"
    commit = _text(cached / "refs" / "main")
    there = sorted(path.parent for path in cached.glob(f"{SNAPSHOTS}/*/{CONFIG}"))
    chosen = [path for path in there if commit in ("", path.name)]
    if len(chosen) != 1:
        what = "several revisions of" if len(chosen) > 1 else "no"
        raise LanewrightError(
            f"lane {lane}: there is {what} {wanted} in {cached.parent}",
            hint=f"`hf download {wanted}`; or say its folder in [image.run] of the lane's series:"
            ' model = "/..."',
        )
    return _whole(chosen[0], lane)


def _whole(folder: Path, lane: str) -> Path:
    """Refuse a folder that lacks weights, as an interrupted download leaves one."""
    try:
        wanted = {
            str(name)
            for index in folder.glob("*.index.json")
            for name in json.loads(index.read_text())["weight_map"].values()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LanewrightError(
            f"lane {lane}: model {folder}: its index is damaged: {error}"
        ) from error
    lacks = sorted(name for name in wanted if not (folder / name).is_file())
    if not wanted and not any(
        path.suffix in WEIGHTS and path.is_file() for path in folder.iterdir()
    ):
        lacks = [f"a file of weights ({', '.join(WEIGHTS)})"]
    if lacks:
        more = f", and {len(lacks) - 1} more" if lacks[1:] else ""
        raise LanewrightError(
            f"lane {lane}: model {folder} is not whole: it lacks {lacks[0]}{more}",
            hint="end its download: `hf download` goes on where it was",
        )
    return folder


def hub_cache(environ: Mapping[str, str]) -> Path:
    """Where Hugging Face keeps what was downloaded."""
    if said := environ.get("HF_HUB_CACHE"):
        return Path(said).expanduser().absolute()
    home = environ.get("HF_HOME")
    if not home:
        home = f"{environ.get('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
    return Path(home).expanduser().absolute() / "hub"


def root_of(model: Path) -> Path:
    """The folder that holds all of a model: a snapshot's files are links to blobs beside it."""
    return model.parent.parent if model.parent.name == SNAPSHOTS else model


def named_hash(folder: Path, *, times: bool = False) -> str:
    """SHA-256 that stands for a model's content, in milliseconds.

    Of weights it takes names and sizes, and in Hugging Face's cache the blob's name, which is its
    content's hash; small documents are read.

    Args:
        folder: With the model.
        times: Whether the hour counts at which a file was written that is no blob: weights of the
            same size may have been trained on.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.iterdir() if path.is_file()):
        info = file.stat()
        plain = f"{info.st_size} {info.st_mtime_ns}" if times else f"{info.st_size}"
        told = file.readlink().name if file.is_symlink() else plain
        digest.update(f"{file.name} {told}\n".encode())
        if file.suffix == ".json":
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
