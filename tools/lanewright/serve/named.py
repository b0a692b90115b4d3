"""Models that others trained, where this machine has them."""

import os
from collections.abc import Mapping
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.serve.named_files import REPOSITORY, SNAPSHOTS
from lanewright.serve.named_weights import require_whole

CONFIG = "config.json"


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
        require_whole(folder, lane)
        return folder
    cached = hub_cache(environ) / f"{REPOSITORY}{wanted.replace('/', '--')}"
    commit = _commit(cached / "refs" / "main", wanted, lane)
    configs = cached.glob(f"{SNAPSHOTS}/*/{CONFIG}")
    there = sorted(path.parent for path in configs if path.is_file())
    chosen = [path for path in there if commit in ("", path.name)]
    if len(chosen) != 1:
        what = "several revisions of" if len(chosen) > 1 else "no"
        raise LanewrightError(
            f"lane {lane}: there is {what} {wanted} in {cached.parent}",
            hint=f"`hf download {wanted}`; or say its folder in [image.run] of the lane's series:"
            ' model = "/..."',
        )
    require_whole(chosen[0], lane)
    return chosen[0]


def hub_cache(environ: Mapping[str, str]) -> Path:
    """Where Hugging Face keeps what was downloaded."""
    if said := environ.get("HF_HUB_CACHE"):
        return _absolute(said)
    home = environ.get("HF_HOME")
    if not home:
        home = f"{environ.get('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
    return _absolute(home) / "hub"


def _absolute(place: str) -> Path:
    # As the hub's own library does; pathlib's raises where there is no such user.
    return Path(os.path.expanduser(place)).absolute()  # noqa: PTH111


def _commit(ref: Path, wanted: str, lane: str) -> str:
    """Read which revision a ref is; empty where it does not say."""
    try:
        # Of a pipe, there might never be an end.
        return ref.read_text(encoding="ascii").strip() if ref.is_file() else ""
    except OSError:
        return ""
    except UnicodeDecodeError as error:
        raise LanewrightError(
            f"lane {lane}: {ref} is damaged: it names no revision",
            hint=f"`hf download {wanted}` writes it anew",
        ) from error
