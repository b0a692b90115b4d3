"""The file of tactics that FlashInfer's tuner chose: one for every engine, and what is in it.

vLLM keeps it below ``VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR``, in a folder that it names after a hash of an
engine's whole configuration (``vllm/model_executor/warmup/flashinfer_autotune_cache.py``). Pin and lane
would so be tuned each by itself, an hour each, and by the clock: equal kernels with other tactics. Here
every engine has the same folder. FlashInfer tells entries apart by op, kernel and shape, takes those
that the file has, and adds what it lacks.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VARIABLE = "VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR"
FOLDER = "every-engine"
# What is told beside tactics: where they were tuned. In the others that begin so are more entries,
# or a digest of all.
ABOUT, ASIDE = "_metadata", "_"


def share() -> None:
    """Have vLLM name the folder of tactics after nothing of an engine's configuration.

    Raises:
        RuntimeError: This vLLM names it otherwise.
    """
    # Behind the shims, as arms.py imports it.
    import torch  # noqa: PLC0415

    if torch.version.cuda is None or VARIABLE not in os.environ:
        return
    from vllm.model_executor.warmup import (  # noqa: PLC0415 - of CUDA
        flashinfer_autotune_cache as kept,
    )

    if not hasattr(kept, "flashinfer_autotune_cache_hash"):
        raise RuntimeError(
            f"{kept.__name__} has no flashinfer_autotune_cache_hash: each engine would be tuned apart"
        )
    kept.flashinfer_autotune_cache_hash = lambda _runner: FOLDER


def read() -> dict[str, bytes]:
    """Read the files of tactics that there are now, by their paths below the folder."""
    root = Path(os.environ.get(VARIABLE, os.devnull))
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*.json"))}


def told(started: dict[str, bytes]) -> dict[str, Any]:
    """Tell what an engine started with, and what there is now.

    Args:
        started: As ``read`` gave it before the engine was made.

    Returns:
        ``started`` and ``ended``: SHA-256 by file. ``entries``: by file, and there by what was tuned, a
        digest of the tactic.
    """
    ended = read()
    return {
        "started": {name: _digest(content) for name, content in started.items()},
        "ended": {name: _digest(content) for name, content in ended.items()},
        "entries": {name: dict(_entries(content)) for name, content in ended.items()},
    }


def _entries(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield what is in a file; one that cannot be read is one entry."""
    try:
        whole = json.loads(content)
    except ValueError:
        whole = None
    if not isinstance(whole, dict):
        yield "", _digest(content)
        return
    for name, value in whole.items():
        if not name.startswith(ASIDE):
            yield name, _digest(json.dumps(value, sort_keys=True).encode())
        elif name != ABOUT and isinstance(value, dict):
            for key, each in value.items():
                yield f"{name} {key}", _digest(json.dumps(each, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
