"""Which kernels a run had FlashInfer choose: by its record, else by the file that vLLM names in a log."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from lanewright.bundle.parts import Part
from lanewright.bundle.recorded import Engine, Recorded
from lanewright.store.regular import read_regular
from lanewright.terminal import printable

# vllm/model_executor/warmup/kernel_warmup.py
NAMED = re.compile(rb"Using FlashInfer autotune cache file: (/[^\r\n]*/autotune_configs\.json)\b")
MOST = 2**26


def autotune_of(found: Recorded, parts: Iterable[Part]) -> list[str]:
    """Digests of the files by which its engines chose kernels; why one is not known.

    Args:
        found: What the run's record says.
        parts: Of the run, as they lie on disk.
    """
    compared = found.facts.equality if found.facts else None
    if compared and compared.engines:
        return [*_of_arms(compared.engines)] or ["none: no engine had one"]
    # What was written since the run ended says nothing of it.
    finished = found.record.finished if found.record else None
    named = {path for part in parts for path in NAMED.findall(part.content)}
    return [printable(_told(Path(os.fsdecode(path)), finished)) for path in sorted(named)]


def _of_arms(engines: Mapping[str, Engine]) -> Iterator[str]:
    """Each file as arms ended with it, with the names of those where they are not of one mind."""
    arms: dict[tuple[str, str], list[str]] = {}
    for arm, engine in engines.items():
        for file, digest in engine.tactics.ended.items():
            arms.setdefault((file, digest), []).append(arm)
    for (file, digest), names in sorted(arms.items()):
        of = "every arm" if len(names) == len(engines) else ", ".join(names)
        yield f"sha256:{digest}, {file}, of {of}"


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
