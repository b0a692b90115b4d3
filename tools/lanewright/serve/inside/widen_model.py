"""Write a model with zeros in its experts: ``widen_model.py RECIPE FOLDER SOURCE``.

Run with the lane's Python; needs NumPy alone. Experts of the model in SOURCE become
``moe_intermediate_size`` wide: gate and up get rows of zeros, down gets columns. What is added is
silu(0) x 0 x 0, so the function stays and the bytes are real. All else is copied.
"""

import json
import re
import shutil
import sys
from pathlib import Path

# Python leaves the script's own folder out of its path when it runs safely.
sys.path.append(str(Path(__file__).parent))

import numpy as np
from making.drawing import Bits
from making.safetensors_file import write_safetensors

EXPERT = re.compile(r"\.experts\.\d+\.(gate|up|down)_proj\.weight$")
WEIGHTS = "model.safetensors"
WIDTH = "moe_intermediate_size"


def main(recipe_file: str, folder: Path, source: Path) -> None:
    """Write the wide model into a folder that exists."""
    width = json.loads(Path(recipe_file).read_text())[WIDTH]
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(WEIGHTS), dirs_exist_ok=True)
    config = folder / "config.json"
    told = {**json.loads(config.read_text()), WIDTH: width}
    config.write_text(json.dumps(told, indent=1) + "\n")
    tensors = {
        name: ("BF16", widened(name, bits, width))
        for name, bits in bfloat16_bits(source / WEIGHTS).items()
    }
    write_safetensors(tensors, folder / WEIGHTS)


def bfloat16_bits(file: Path) -> dict[str, Bits]:
    """Read a safetensors file whose tensors are all bfloat16, as uint16."""
    whole = file.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:start])
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(whole, "<u2", int(np.prod(told["shape"])), start + told["data_offsets"][0])
        .reshape(told["shape"])
        for name, told in header.items()
    }  # fmt: skip


def widened(name: str, bits: Bits, width: int) -> Bits:
    """An expert's matrix with zeros behind its rows, or columns of ``down``; others as they are."""
    found = EXPERT.search(name)
    if not found:
        return bits
    rows, columns = bits.shape
    more = (0, width - columns) if found[1] == "down" else (width - rows, 0)
    return np.pad(bits, [(0, more[0]), (0, more[1])])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
