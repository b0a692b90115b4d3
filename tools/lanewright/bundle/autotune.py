"""Which kernels a run had FlashInfer choose: the file that vLLM names in its log."""

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from lanewright.bundle.parts import Part
from lanewright.store.regular import read_regular

# vllm/model_executor/warmup/kernel_warmup.py
NAMED = re.compile(rb"Using FlashInfer autotune cache file: (/[^\r\n]*/autotune_configs\.json)\b")
MOST = 2**26


def autotune_of(parts: Iterable[Part], finished: str | None) -> list[str]:
    """Digests of the files that the logs of a run name; why one is not known.

    Args:
        parts: Of the run, as they lie on disk.
        finished: When it ended; what was written since says nothing of it.
    """
    named = {path for part in parts for path in NAMED.findall(part.content)}
    return [
        _told(Path(path.decode("utf-8", "surrogateescape")), finished) for path in sorted(named)
    ]


def _told(file: Path, finished: str | None) -> str:
    try:
        written = file.lstat().st_mtime
    except (OSError, ValueError):
        return f"not known: {file} is not here"
    if finished is None or written > _seconds(finished) + 1:
        return f"not known: {file} was written since"
    content = read_regular(file, MOST)
    if content is None:
        return f"not known: {file} is no regular file"
    return f"sha256:{hashlib.sha256(content).hexdigest()}, of {file}"


def _seconds(time: str) -> float:
    return datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
