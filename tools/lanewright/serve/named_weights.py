"""Whether a model that others trained has all of its weights."""

import json
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.terminal import quoted

# In the order in which vLLM looks: the first of which there is a file is loaded, by its own index.
FORMATS = (
    ("consolidated*.safetensors", "consolidated.safetensors.index.json"),
    ("*.safetensors", "model.safetensors.index.json"),
    ("*.bin", "pytorch_model.bin.index.json"),
    ("*.pt", None),
    # These by a load format or a plugin of their own, and whole with one file.
    ("*.gguf", None),
    ("*.pth", None),
)
WEIGHTS = frozenset({".safetensors", ".bin", ".pt", ".gguf", ".pth"})
# What training leaves beside weights, and vLLM passes over.
TRAINING = frozenset(
    {"training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.pt", "scaler.pt"}
)


def require_whole(folder: Path, lane: str) -> None:
    """Refuse a folder that lacks weights, as an interrupted download leaves one.

    Raises:
        LanewrightError: It does, or the index of what vLLM would load is damaged.
    """
    lacks = _lacking(folder, lane)
    if lacks:
        more = f", and {len(lacks) - 1} more" if lacks[1:] else ""
        raise LanewrightError(
            f"lane {lane}: model {folder} is not whole: it lacks {lacks[0]}{more}",
            hint="end its download: `hf download` goes on where it was",
        )


def _lacking(folder: Path, lane: str) -> list[str]:
    there = {path.name for path in folder.iterdir() if path.is_file()}
    for pattern, index in FORMATS:
        if any(Path(name).match(pattern) for name in there - TRAINING):
            wanted = _shards(folder / index, lane) if index in there and index else set()
            return sorted(name for name in wanted if not (folder / name).is_file())
    for _, index in FORMATS:
        if index in there and index and (wanted := _shards(folder / index, lane)):
            return sorted(wanted)
    return [f"a file of weights ({', '.join(sorted(WEIGHTS))})"]


def _shards(index: Path, lane: str) -> set[str]:
    """Files that an index names."""
    try:
        found = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        if not all(isinstance(name, str) for name in found):
            raise TypeError("a file's name is no text")  # noqa: TRY301 - told as all else is
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LanewrightError(
            f"lane {lane}: model {index.parent}: its index is damaged: {index.name}: {error}",
            hint=f"`rm {quoted(index)}`, and have `hf download` bring it again",
        ) from error
    return found
