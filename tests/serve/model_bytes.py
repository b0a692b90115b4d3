"""What the recipes come to, whatever machine makes them."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lanewright.serve.model import MAKER, recipe_text

SHA256 = {
    "qwen3-moe-tiny": "",
    "qwen3-moe-mxfp4-tiny": "",
    "deepseek-v4-tiny": "",
}


def made(
    recipe: str, folder: Path, python: str = sys.executable, environ: Mapping[str, str] = os.environ
) -> Path:
    """Make a model by the maker itself."""
    text = folder / "recipe.json"
    text.write_text(recipe_text(recipe))
    model = folder / "model"
    model.mkdir()
    subprocess.run([python, MAKER, text, model], check=True, env=dict(environ))
    return model


def header(model: Path) -> dict[str, dict[str, Any]]:
    """Read what a model's file says of its tensors."""
    with (model / "model.safetensors").open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        found: dict[str, dict[str, Any]] = json.loads(file.read(length))
    return found


def digest(model: Path) -> str:
    """SHA-256 of a model's files, by their names."""
    whole = hashlib.sha256()
    for file in sorted(model.iterdir()):
        whole.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()
