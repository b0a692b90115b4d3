"""A model in Hugging Face's cache, and a bound for what must not wait."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "somebody/a-model"
SECONDS = 5.0


def snapshot(cache: Path, commit: str, *, ref: bool = True) -> Path:
    """Lay a revision as Hugging Face's library does: links to blobs, and a name for the newest."""
    root = cache / "models--somebody--a-model"
    folder = root / "snapshots" / commit
    folder.mkdir(parents=True)
    blobs = root / "blobs"
    blobs.mkdir(exist_ok=True)
    for name, content in (("config.json", b"{}"), ("model.safetensors", commit.encode())):
        blob = blobs / f"{name}-{commit}"
        blob.write_bytes(content)
        (folder / name).symlink_to(Path("../../blobs", blob.name))
    if ref:
        (root / "refs").mkdir(exist_ok=True)
        (root / "refs" / "main").write_text(commit)
    return folder


@contextmanager
def in_time() -> Iterator[None]:
    """Fail where the block waits for good."""

    def late(_number: int, _frame: object) -> None:
        raise AssertionError(f"it still waits after {SECONDS:.0f} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
