"""Checks of vLLM's TRT-LLM repack in parts: ``mxfp4_repack.py RESULT``.

vLLM's code is its own; of FlashInfer, which needs a GPU to be imported, the two helpers that it calls
are written here in their documented form: a permutation of rows that depends on the shape alone, and
scales interleaved in tiles of 128 rows by 4.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from allocations import OTHER, Allocations
from checks import bits, tell
from vllm.model_executor.layers.fused_moe.oracle.mxfp4 import TRTLLM_BACKENDS, Mxfp4MoeBackend
from vllm.model_executor.layers.quantization import mxfp4

from expert_bank.glue.mxfp4_repack import in_parts_on, repacks_in_parts
from expert_bank.in_parts import in_parts

CPU = torch.device("cpu")
INTERMEDIATE, HIDDEN, BLOCK = 128, 256, 32
SHAPES = {
    "w13_weight": (2 * INTERMEDIATE, HIDDEN // 2),
    "w2_weight": (HIDDEN, INTERMEDIATE // 2),
    "w13_weight_scale": (2 * INTERMEDIATE, HIDDEN // BLOCK),
    "w2_weight_scale": (HIDDEN, INTERMEDIATE // BLOCK),
}
BIASES = {"w13_bias": 2 * INTERMEDIATE, "w2_bias": HIDDEN}
ROW = sum(rows * width for rows, width in SHAPES.values())
# Fewer than a part, none left over, some left over.
EXPERTS = (1, 3, 16, 64, 70)


@dataclass(frozen=True)
class Kind:
    """One of vLLM's two methods, and its repack by the name that it calls it by."""

    method: Any
    biased: bool

    @property
    def setup(self) -> Callable[..., None]:
        return self.method._setup_kernel  # type: ignore[no-any-return]  # noqa: SLF001 - vLLM's


KINDS = (
    Kind(mxfp4.Mxfp4MoEMethod, biased=False),
    Kind(mxfp4.Mxfp4MoEMethod, biased=True),
    Kind(mxfp4.GptOssMxfp4MoEMethod, biased=True),
)


def permuted(
    cache: dict[Any, torch.Tensor], tensor: torch.Tensor, tile: int, num_elts_per_sf: int = 0
) -> torch.Tensor:
    """An order of rows by shape, as FlashInfer caches it."""
    key = (tuple(tensor.shape), tile, num_elts_per_sf)
    if key not in cache:
        draw = torch.Generator().manual_seed(len(cache) + 1)
        cache[key] = torch.randperm(tensor.shape[0], generator=draw)
    return cache[key]


def interleaved(scales: torch.Tensor) -> torch.Tensor:
    """Tiles of 128 rows by 4, each row's four beside those of the rows 32, 64 and 96 on."""
    rows, width = scales.shape
    tiles = scales.reshape(rows // 128, 4, 32, width // 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).contiguous().reshape(-1)


@contextmanager
def flashinfer() -> Iterator[None]:
    """Give vLLM what it imports."""
    whole, moe, core, fp4 = (
        ModuleType(name)
        for name in (
            "flashinfer",
            "flashinfer.fused_moe",
            "flashinfer.fused_moe.core",
            "flashinfer.fp4_quantization",
        )
    )
    core.get_w2_permute_indices_with_cache = permuted  # type: ignore[attr-defined]
    fp4.nvfp4_block_scale_interleave = interleaved  # type: ignore[attr-defined]
    with patch.dict(sys.modules, {each.__name__: each for each in (whole, moe, core, fp4)}):
        yield


def raw(experts: int, *, biased: bool) -> dict[str, torch.Tensor]:
    """A layer as it is loaded."""
    draw = torch.Generator().manual_seed(experts)
    made = partial(torch.randint, 0, 256, generator=draw, dtype=torch.uint8)
    found = {name: made(size=(experts, *shape)) for name, shape in SHAPES.items()}
    if biased:
        for name, width in BIASES.items():
            found[name] = torch.randn(experts, width, generator=draw).bfloat16()
    return found


def processed(
    kind: Kind, backend: Mxfp4MoeBackend, rows: dict[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """What vLLM's method makes of a layer; a kernel is built by others."""
    layer = torch.nn.Module()
    for name, each in rows.items():
        layer.register_parameter(name, torch.nn.Parameter(each, requires_grad=False))
    experts = len(rows["w2_weight"])
    method = SimpleNamespace(
        num_experts=experts,
        intermediate_size=INTERMEDIATE,
        hidden_size=HIDDEN,
        mxfp4_backend=backend,
        activation_key=None,
        _cache_permute_indices={},
        moe=SimpleNamespace(w13_num_shards=2, activation=None, use_mxfp4_w4a4_dsv4=False),
        get_fused_moe_quant_config=lambda _layer: None,
        _build_moe_kernel=lambda _layer: None,
        experts_cls=None,
    )
    given = [
        getattr(layer, name, None)
        for name in ("w13_weight", "w2_weight", "w13_weight_scale", "w2_weight_scale", *BIASES)
    ]
    with flashinfer():
        kind.setup(method, layer, *given)
    return {name: getattr(layer, name).data for name in rows}


def every_part_is_as_of_the_whole() -> None:
    """To the last bit, of every kind of layer and kernel, and of any number of experts."""
    for kind in KINDS:
        for backend in TRTLLM_BACKENDS:
            for experts in EXPERTS:
                rows = raw(experts, biased=kind.biased)
                expected = processed(kind, backend, rows)
                with in_parts_on(CPU):
                    found = processed(kind, backend, rows)
                assert any(bits(expected[name]) != bits(rows[name]) for name in SHAPES)
                for name, each in expected.items():
                    assert (found[name].dtype, found[name].shape) == (each.dtype, each.shape)
                    assert bits(found[name]) == bits(each), (kind, backend, experts, name)


def no_more_than_a_layer_raw_and_one_repacked_is_alive() -> None:
    """In parts; as a whole there is more, and the count shows it."""
    (backend, *_), experts = TRTLLM_BACKENDS, 64
    for kind in KINDS:
        rows = raw(experts, biased=kind.biased)
        size = sum(each.nbytes for each in rows.values())

        def most(kind: Kind = kind, rows: dict[str, torch.Tensor] = rows) -> int:
            with Allocations(least=1) as seen:
                made = processed(kind, backend, rows)
            assert len(made) == len(rows)
            return int(seen.alive[OTHER])

        repacked = sum(each.nbytes for each in processed(kind, backend, rows).values())
        # The raw layer was made before; of a part, a device has a copy, and the host shares it.
        assert size + most() > size + repacked + ROW * experts // 4, kind
        with in_parts_on(CPU):
            assert size // 4 + most() <= size + repacked, kind


def a_call_that_fails_leaves_vllms_own() -> None:
    """And so does the end of the block."""
    of_any = mxfp4.convert_weight_to_mxfp4_moe_kernel_format
    of_gpt_oss = mxfp4.convert_gpt_oss_weight_to_mxfp4_moe_kernel_format
    try:
        with in_parts_on(CPU):
            assert mxfp4.convert_weight_to_mxfp4_moe_kernel_format is not of_any
            assert mxfp4.convert_gpt_oss_weight_to_mxfp4_moe_kernel_format is not of_gpt_oss
            int("no number")
    except ValueError:
        assert mxfp4.convert_weight_to_mxfp4_moe_kernel_format is of_any
        assert mxfp4.convert_gpt_oss_weight_to_mxfp4_moe_kernel_format is of_gpt_oss
    else:
        raise AssertionError


def only_its_own_kernels_rows_are_repacked_in_parts() -> None:
    """Other repacks look at the layer."""
    for kind in KINDS:
        method = kind.method.__new__(kind.method)
        for backend in Mxfp4MoeBackend:
            method.mxfp4_backend = backend
            assert repacks_in_parts(method) == (backend in TRTLLM_BACKENDS), backend
    assert not repacks_in_parts(SimpleNamespace(mxfp4_backend=TRTLLM_BACKENDS[0]))


def what_is_no_row_of_each_expert_is_refused() -> None:
    """A repack that gives other rows than the part's, and rows of unlike numbers of experts."""
    for repack, rows, told in (
        (
            lambda w: (w.reshape(-1),),
            {"w": torch.ones(8, 2)},
            "2 experts are repacked to (4,), no row of each",
        ),
        (
            lambda w, v: (w, v),
            {"w": torch.ones(8, 2), "v": torch.ones(4, 2)},
            "rows of [4, 8] experts cannot be repacked together",
        ),
    ):
        try:
            in_parts(repack, rows, CPU)
        except RuntimeError as error:
            assert told in str(error), error  # noqa: PT017 - no pytest in a lane's Python
        else:
            raise AssertionError(told)


CHECKS = (
    every_part_is_as_of_the_whole,
    no_more_than_a_layer_raw_and_one_repacked_is_alive,
    a_call_that_fails_leaves_vllms_own,
    only_its_own_kernels_rows_are_repacked_in_parts,
    what_is_no_row_of_each_expert_is_refused,
)


if __name__ == "__main__":
    tell(CHECKS)
