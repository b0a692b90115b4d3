"""Generated models: the same bytes everywhere, in the layout that vLLM loads."""

from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.recipes import RECIPES
from tests.serve.model_bytes import SHA256, digest, header, made

pytest.importorskip("numpy", reason="generated models need NumPy")


@pytest.mark.parametrize("recipe", SHA256)
def test_a_recipe_comes_to_these_bytes(tmp_path: Path, recipe: str) -> None:
    assert digest(made(recipe, tmp_path)) == SHA256[recipe]


@pytest.mark.parametrize(
    ("recipe", "layers", "hidden", "name", "scale"),
    [
        ("qwen3-moe-mxfp4-tiny", 4, 128, "model.layers.{}.mlp.experts.{}.{}_proj", "weight_scale"),
        ("deepseek-v4-tiny", 3, 256, "layers.{}.ffn.experts.{}.{}", "scale"),
    ],
)
def test_every_experts_rows_and_scales_are_its_own(
    tmp_path: Path, recipe: str, layers: int, hidden: int, name: str, scale: str
) -> None:
    model = made(recipe, tmp_path)
    tensors, whole = header(model), (model / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    told: dict[str, Any] = RECIPES[recipe]
    experts = told.get("num_experts") or told["n_routed_experts"]
    inner = told["moe_intermediate_size"]
    gate, down = ("gate", "down") if "qwen" in recipe else ("w1", "w2")
    for matrix, rows, columns in ((gate, inner, hidden), (down, hidden, inner)):
        for kind, width in (("weight", columns // 2), (scale, columns // 32)):
            seen = set()
            for layer in range(layers):
                for expert in range(experts):
                    tensor = tensors[f"{name.format(layer, expert, matrix)}.{kind}"]
                    assert (tensor["dtype"], tensor["shape"]) == ("U8", [rows, width])
                    first, last = tensor["data_offsets"]
                    seen.add(whole[start + first : start + last])
            assert len(seen) == layers * experts


def test_routes_by_hash_are_different_experts(tmp_path: Path) -> None:
    model = made("deepseek-v4-tiny", tmp_path)
    tensors, whole = header(model), (model / "model.safetensors").read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    tensor = tensors["layers.0.ffn.gate.tid2eid"]
    assert (tensor["dtype"], tensor["shape"]) == ("I32", [512, 6])
    first, last = tensor["data_offsets"]
    ids = memoryview(whole[start + first : start + last]).cast("i").tolist()
    assert 0 <= min(ids) <= max(ids) < 384
    assert all(len(set(ids[at : at + 6])) == 6 for at in range(0, len(ids), 6))
    assert len(set(ids)) > 350
