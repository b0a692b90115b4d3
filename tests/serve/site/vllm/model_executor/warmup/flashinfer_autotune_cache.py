"""A tuner that keeps what it chose; the clock's choice is its process's number."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def flashinfer_autotune_cache_hash(runner: Any) -> str:  # noqa: ANN401 - the engine's arguments
    return hashlib.sha256(repr(runner).encode()).hexdigest()


def tune(runner: Any, wanted: list[str], *, anew: bool) -> None:  # noqa: ANN401 - the same
    root = Path(os.environ["VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR"])
    file = root / flashinfer_autotune_cache_hash(runner) / "autotune_configs.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(file.read_text()) if file.exists() and not anew else {}
    tuned = {name: ["Runner", os.getpid()] for name in wanted if name not in kept}
    if tuned:
        told = {"_metadata": {"gpu": "none"}, **kept, **tuned, "_generation": os.getpid()}
        file.write_text(json.dumps(told))
