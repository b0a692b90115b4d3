"""Checkpoints with the same weights in several files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def spread(model: Path, folder: Path, file_of: Callable[[str], int]) -> Path:
    """Write a model's weights to several files.

    Args:
        model: Folder with one ``model.safetensors``.
        folder: Where to, new.
        file_of: Number of the file that a weight goes to, from 1 on.
    """
    folder.mkdir()
    for each in model.iterdir():
        if each.name != "model.safetensors":
            (folder / each.name).symlink_to(each)
    header, data = _read(model / "model.safetensors")
    numbers = {name: file_of(name) for name in header}
    files = {number: f"model-{number:05}.safetensors" for number in set(numbers.values())}
    for number, file in files.items():
        chosen = {name: header[name] for name in header if numbers[name] == number}
        _write(chosen, data, folder / file)
    weights = {name: files[number] for name, number in numbers.items()}
    index = {"metadata": {"total_size": len(data)}, "weight_map": weights}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def _read(file: Path) -> tuple[dict[str, Any], memoryview]:
    whole = memoryview(file.read_bytes())
    end = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(bytes(whole[8:end]))
    header.pop("__metadata__", None)
    return header, whole[end:]


def _write(tensors: dict[str, Any], data: memoryview, file: Path) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in tensors.items():
        start, stop = tensor["data_offsets"]
        header[name] = {**tensor, "data_offsets": [end, end + stop - start]}
        end += stop - start
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            start, stop = tensor["data_offsets"]
            out.write(data[start:stop])
