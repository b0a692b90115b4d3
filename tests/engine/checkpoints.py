"""Checkpoints with the same weights in several files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

LAST = "model.norm.weight"


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


def doubled(model: Path, folder: Path, weight: str) -> Path:
    """Write a model's weights to two files; one weight is in both.

    Args:
        model: As in ``spread``.
        folder: Where to, new.
        weight: Which.
    """
    spread(model, folder, lambda name: 1 + (name == LAST))
    header, data = _read(model / "model.safetensors")
    _write(
        {name: header[name] for name in (LAST, weight)}, data, folder / "model-00002.safetensors"
    )
    return folder


def dense(model: Path, folder: Path) -> Path:
    """Write a model whose layers are no mixtures: each is made of its first experts, side by side.

    Args:
        model: As in ``spread``, of Qwen3-MoE.
        folder: Where to, new.
    """
    folder.mkdir()
    config = json.loads((model / "config.json").read_text())
    layers = range(config["num_hidden_layers"])
    width = config["moe_intermediate_size"]
    experts = config["intermediate_size"] // width
    for each in model.iterdir():
        if each.name not in ("model.safetensors", "config.json"):
            (folder / each.name).symlink_to(each)
    kind = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}
    (folder / "config.json").write_text(json.dumps({**config, **kind}))
    header, data = _read(model / "model.safetensors")
    made, rows = {name: each for name, each in header.items() if ".mlp." not in name}, bytes(data)
    for layer in layers:
        for part in ("gate_proj", "up_proj", "down_proj"):
            names = [f"model.layers.{layer}.mlp.experts.{n}.{part}.weight" for n in range(experts)]
            of_each = [header[name] for name in names]
            start = len(rows)
            rows += b"".join(data[slice(*each["data_offsets"])] for each in of_each)
            shape = [side * experts if side == width else side for side in of_each[0]["shape"]]
            made[f"model.layers.{layer}.mlp.{part}.weight"] = {
                **of_each[0],
                "shape": shape,
                "data_offsets": [start, len(rows)],
            }
    _write(made, memoryview(rows), folder / "model.safetensors")
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
