"""Small generated models: nothing to download, the same bytes everywhere."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.serve.child import BootError, tail, watch
from lanewright.serve.environment import LaneEnv
from lanewright.serve.makers import maker_of
from lanewright.serve.recipes import RECIPES
from lanewright.store.locking import held
from lanewright.store.scratch import making
from lanewright.terminal import quoted

# Without a step: one that trains tells of some every few seconds.
MAKE_SECONDS = 300.0


def ensure_model(places: Places, env: LaneEnv, recipe: str) -> Path:
    """Find or make a model.

    Args:
        places: Where models are kept.
        env: Whose Python makes it.
        recipe: A name in ``RECIPES``.

    Returns:
        Folder with configuration, bfloat16 weights and tokenizer, as Hugging Face lays them out.

    Raises:
        LanewrightError: No such recipe, or no room.
        BootError: The maker failed.
    """
    text = recipe_text(recipe)
    folder = places.models / model_name(recipe)
    try:
        with held(folder.with_suffix(".lock"), f"makes {folder.name}"):
            if not folder.is_dir():
                source = [ensure_model(places, env, name) for name in sources_of(recipe)]
                make(env, text, folder, source)
    except OSError as error:
        raise LanewrightError(
            f"model {folder}: {error}",
            hint="free some disk space, or name another folder in LANEWRIGHT_STORE",
        ) from error
    return folder


def model_name(recipe: str) -> str:
    """Name of the folder that a recipe's model is in, wherever that is."""
    return f"{recipe}-{recipe_hash(recipe)[:12]}"


def recipe_text(recipe: str) -> str:
    """Write a recipe as the maker reads it.

    Raises:
        LanewrightError: No such recipe.
    """
    if recipe not in RECIPES:
        raise LanewrightError(
            f"no model recipe {recipe!r}; known: {', '.join(RECIPES)}",
            hint="name a known recipe in the lane's series",
        )
    return json.dumps(RECIPES[recipe], indent=1, sort_keys=True)


def sources_of(recipe: str) -> list[str]:
    """Recipes of the models that a recipe's model is made of."""
    return [RECIPES[recipe]["widens"]] if "widens" in RECIPES[recipe] else []


def recipe_hash(recipe: str) -> str:
    """SHA-256 of a recipe, of the program that follows it, and of the model that it starts from."""
    digest = hashlib.sha256(recipe_text(recipe).encode())
    for file in maker_of(RECIPES[recipe]).sources():
        digest.update(file.read_bytes())
    for source in sources_of(recipe):
        digest.update(recipe_hash(source).encode())
    return digest.hexdigest()


def content_hash(folder: Path) -> str:
    """SHA-256 of the weights, configuration and tokenizer in a model's folder.

    A model that was trained again has the recipe of the one before, and may have other weights. About a
    second for each GB.

    Args:
        folder: As ``ensure_model`` gives it.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("*.json"), *folder.glob("*.safetensors")]):
        with file.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").hexdigest()
        digest.update(f"{file.name} {content}\n".encode())
    return digest.hexdigest()


def make(env: LaneEnv, text: str, folder: Path, source: Sequence[Path] = ()) -> None:
    """Make a model beside its place and move it there when it is whole."""
    maker = maker_of(json.loads(text)).script
    with making(folder.parent) as work:
        made = work / "model"
        made.mkdir()
        recipe_file = work / "recipe.json"
        recipe_file.write_text(text)
        words = [str(maker), str(recipe_file), str(made), *map(str, source)]
        with env.running("model", words, environ={}, log=work / "log", reads=source) as running:
            status = watch(running, seconds=MAKE_SECONDS)
            if status:
                raise BootError(
                    f"{folder.name} could not be made: {maker.name} {ended(status)}:\n"
                    f"{tail(running.log)}",
                    hint=f"if the base environment is damaged, remove it, and it is made again:"
                    f" rm -r {quoted(env.python.parent.parent)}",
                )
        made.rename(folder)
