"""What the recipes come to, whatever machine makes them."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lanewright.serve.makers import maker_of
from lanewright.serve.model import recipe_text
from lanewright.serve.recipes import RECIPES

SHA256 = {
    "qwen3-moe-tiny": "eb06bb0d0c2731d30b92a62d5df2c0f8579e427598a522f30b9e2be0337eaa99",
    "qwen3-moe-mxfp4-tiny": "2f7202bb8793ed4eff7b8bda143388f9ae53bd9775521c37cee68a6f50a64868",
    "deepseek-v4-tiny": "d17d206cfe97e907261f8441796697440fcd520a102cdf09e74602da8b98a2cc",
}


def made(
    recipe: str, folder: Path, python: str = sys.executable, environ: Mapping[str, str] = os.environ
) -> Path:
    """Make a model by the maker itself."""
    text = folder / "recipe.json"
    text.write_text(recipe_text(recipe))
    model = folder / "model"
    model.mkdir()
    subprocess.run(
        [python, maker_of(RECIPES[recipe]).script, text, model], check=True, env=dict(environ)
    )
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
