"""Writes safetensors files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from making.drawing import Bits


def write_safetensors(tensors: Mapping[str, tuple[str, Bits]], file: Path) -> None:
    """Write tensors: length of the header, the header as JSON, then all the bytes.

    Args:
        tensors: By name, dtype as safetensors names it and bits.
        file: Where to.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, bits) in tensors.items():
        start, end = end, end + bits.nbytes
        header[name] = {"dtype": dtype, "shape": bits.shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for _, bits in tensors.values():
            out.write(bits.tobytes())
