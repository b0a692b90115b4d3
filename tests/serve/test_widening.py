"""A model with zeros in its experts computes the same, from larger rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from making.drawing import Bits
from numpy.typing import NDArray
from widen_model import bfloat16_bits

from lanewright.serve.makers import maker_of
from lanewright.serve.model import recipe_hash, recipe_text
from lanewright.serve.recipes import RECIPES
from tests.serve.model_bytes import made

Numbers = NDArray[np.float64]
WIDE = "qwen3-moe-trained-wide"
DRAWN = "qwen3-moe-tiny"
ROW = "model.layers.2.mlp.experts.9"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A drawn model, and the same made wide."""
    folder = tmp_path_factory.mktemp("widening")
    source = made(DRAWN, folder)
    (source / "held_out").mkdir()
    (source / "held_out" / "python.txt").write_text("a = 1\n")
    wide = folder / "wide"
    wide.mkdir()
    (folder / "wide.json").write_text(recipe_text(WIDE))
    script = maker_of(RECIPES[WIDE]).script
    subprocess.run([sys.executable, script, folder / "wide.json", wide, source], check=True)
    return source, wide


def numbers(bits: Bits) -> Numbers:
    """What bits of bfloat16 stand for, float64."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def expert(model: Path, tokens: Numbers) -> Numbers:
    """What an expert gives for tokens, float64."""
    found = bfloat16_bits(model / "model.safetensors")
    gate, up, down = (
        numbers(found[f"{ROW}.{name}_proj.weight"]) for name in ("gate", "up", "down")
    )
    gated = tokens @ gate.T
    result: Numbers = (gated / (1 + np.exp(-gated)) * (tokens @ up.T)) @ down.T
    return result


def test_an_expert_computes_the_same(models: tuple[Path, Path]) -> None:
    tokens = np.random.default_rng(1).standard_normal((8, 128))
    narrow, wide = (expert(model, tokens) for model in models)
    assert np.abs(narrow).max() > 1
    np.testing.assert_allclose(wide, narrow, rtol=1e-12, atol=1e-12)


def test_a_row_takes_a_mebibyte_and_what_is_no_expert_stays(models: tuple[Path, Path]) -> None:
    narrow, wide = (bfloat16_bits(model / "model.safetensors") for model in models)
    assert narrow.keys() == wide.keys()
    row = sum(bits.nbytes for name, bits in wide.items() if name.startswith(f"{ROW}."))
    assert 2**20 <= row < 2**20 * 1.01
    for name, bits in wide.items():
        rows, *columns = narrow[name].shape
        kept = bits[:rows, : columns[0]] if columns else bits
        np.testing.assert_array_equal(kept, narrow[name])
        assert np.count_nonzero(bits) == np.count_nonzero(narrow[name])
        assert (bits.shape != narrow[name].shape) == (".experts." in name)


def test_all_else_of_the_model_is_copied(models: tuple[Path, Path]) -> None:
    source, wide = models
    told, was = (json.loads((model / "config.json").read_text()) for model in (wide, source))
    assert told == {**was, "moe_intermediate_size": 1376}
    for file in ("tokenizer.json", "generation_config.json", "held_out/python.txt"):
        assert (wide / file).read_bytes() == (source / file).read_bytes()


def test_its_hash_is_its_sources_too(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe_hash(WIDE)
    trained = RECIPES["qwen3-moe-trained"]
    monkeypatch.setitem(RECIPES, "qwen3-moe-trained", {**trained, "seed": 1})
    assert recipe_hash(WIDE) != before
