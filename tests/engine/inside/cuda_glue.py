"""Checks of the CUDA side's glue in the CPU's memory: ``cuda_glue.py RESULT``; needs vLLM.

``cuda_layers`` says what stands in for what. Whatever no entry points to is NaN.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from banks import row_addresses
from checks import bits, tell
from cuda_layers import CPU, DTYPE, INNER, WIDTH, E, K, Model, built, model
from self_checks import CHECKS as SELF_CHECKS
from side_streams import CHECKS as SIDE_STREAMS
from staged_device import CHECKS as ON_DEVICE
from staged_glue import CHECKS as STAGED
from staging_choice import CHECKS as CHOICE
from two_allocations import CHECKS as ALLOCATIONS
from vllm.config import VllmConfig, set_current_vllm_config
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend

from expert_bank.finalize import finalize_reference
from expert_bank.glue.row_pointers import RowPointers, against_row_pointers
from expert_bank.glue.serving import against_serving
from expert_bank.grouped_gemm import grouped_gemm_cuda, grouped_gemm_reference
from expert_bank.plan import Mode
from expert_bank.swaps import Swap

TOKENS = 6
MAPS = 50
MODES: tuple[Mode, ...] = ("mirror", "exclusive")


def step() -> tuple[torch.Tensor, torch.Tensor]:
    """Draw what a layer is given: [T, K] and int64[T, k]."""
    source = torch.Generator().manual_seed(23)
    ids = torch.rand(TOKENS, E, generator=source).topk(K).indices
    return torch.randn(TOKENS, WIDTH, generator=source).to(DTYPE), ids


def resident(made: Model, layer: int, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The same kernel over rows that are all in one place."""
    every = torch.arange(E)
    rows = [row_addresses(each[layer], every) for each in (made.w13, made.w2)]
    picks = grouped_gemm_cuda(x, ids, rows[0], rows[1], intermediate=INNER)
    output = torch.empty_like(x)
    finalize_reference(picks, weights(ids), output)
    return output


def weights(ids: torch.Tensor) -> torch.Tensor:
    """What ``Model.forward`` weighs picks with."""
    return torch.rand(ids.shape, generator=torch.Generator().manual_seed(3))


def swapped(made: Model, layer: int, draw: random.Random) -> None:
    """Exchange a hot expert for a cold one, at the barrier."""
    hot = made.two_bank.table.is_hot()[layer]
    promote, demote = (draw.choice(each.nonzero()[0].tolist()) for each in (~hot, hot))
    before = made.two_bank.barrier.totals.swaps
    made.two_bank.barrier.swap([Swap(layer, promote, demote)])
    assert made.two_bank.barrier.totals.swaps == before + 1


def every_swap_leaves_the_resident_layers_bits() -> None:
    """Both layers behind each swap of either, both modes; picks are counted by bank, exactly."""
    x, ids = step()
    for mode in MODES:
        made, draw = model([5, 3], mode, poison=True), random.Random(7)  # noqa: S311 - no secret
        expected = [bits(resident(made, layer, x, ids)) for layer in (0, 1)]
        assert expected[0] != expected[1]
        held = [each.data_ptr() for one in pointers(made) for each in one.addresses.values()]
        for number in range(MAPS):
            swapped(made, number % 2, draw)
            assert [bits(made.forward(layer, x, ids)) for layer in (0, 1)] == expected
        assert made.two_bank.audit() == []
        # A graph holds where the addresses are.
        assert held == [
            each.data_ptr() for one in pointers(made) for each in one.addresses.values()
        ]
        picks = made.two_bank.counter.by_bank()
        assert picks.sum() == MAPS * 2 * TOKENS * K
        assert (picks.sum(axis=2) > 0).all()


def a_layers_output_is_close_to_float64() -> None:
    """Each pick by itself, and the slots in order."""
    x, ids = step()
    made = model([5, 3], "mirror")
    for layer in (0, 1):
        rows = [each[layer].double() for each in (made.w13, made.w2)]
        picks = grouped_gemm_reference(x.double(), ids, list(rows[0]), list(rows[1]))
        exact = torch.empty(TOKENS, WIDTH)
        finalize_reference(picks.float(), weights(ids), exact)
        error = (made.forward(layer, x, ids) - exact).abs().max() / exact.abs().max()
        assert error < 4 * torch.finfo(DTYPE).eps


def addresses_that_were_not_refreshed_show() -> None:
    """The negative control: behind a swap the old rows are read, which are NaN."""
    x, ids = step()
    made = model([5, 3], "exclusive", poison=True)
    expected = bits(resident(made, 0, x, ids))
    with patch.object(RowPointers, "refresh", lambda _: None):
        swapped(made, 0, random.Random(7))  # noqa: S311 - no secret
    assert bits(made.forward(0, x, ids)) != expected
    pointers(made)[0].refresh()
    assert bits(made.forward(0, x, ids)) == expected


def pointers(made: Model) -> list[RowPointers]:
    """What runs each layer."""
    found = [each.row_pointers for each in made.layers]
    assert all(each is not None for each in found)
    return [each for each in found if each is not None]


def layers_that_rows_cannot_be_pointed_to_are_told_why() -> None:
    """One reason each; none for the layer as it is."""
    with set_current_vllm_config(VllmConfig()):
        layer: Any = built(0)
    assert against_row_pointers(layer) is None
    assert list(against_serving([layer], torch.device("cuda"))) == []
    backend = UnquantizedMoeBackend.FLASHINFER_CUTLASS
    reasons = (
        (held(layer, quant_method=torch.nn.Identity()), "Identity is not of plain weights"),
        (
            held(layer, w13_bias=parameter(E, 2)),
            "its parameters are w13_bias, w13_weight, w2_weight",
        ),
        (held(layer, w13_weight=parameter(E, 2)), "its weights are torch.float32"),
        (
            held(layer.quant_method, unquantized_backend=backend),
            f"its rows are laid out for {backend}",
        ),
        (held(layer, activation=MoEActivation.GELU), "its activation is not plain SiLU"),
        (held(layer, swiglu_limit=7.0), "its activation is not plain SiLU"),
        (held(layer, swiglu_alpha=1.7), "its activation is not plain SiLU"),
        (held(layer, swiglu_beta=1.0), "its activation is not plain SiLU"),
        (
            held(layer, apply_router_weight_on_input=True),
            "the router's weights come before its experts",
        ),
    )
    for changed, told in reasons:
        with changed:
            assert against_row_pointers(layer) == told
            (line,) = against_serving([layer], torch.device("cuda"))
            assert line == f"{layer.layer_name}: {told}, and its experts are NoneType"
            assert list(against_serving([layer], CPU)) == []
    assert against_row_pointers(layer) is None


def parameter(*shape: int) -> torch.nn.Parameter:
    """One of another kind."""
    return torch.nn.Parameter(torch.zeros(shape), requires_grad=False)


@contextmanager
def held(holder: Any, **changed: Any) -> Iterator[None]:  # noqa: ANN401 - vLLM's
    """Have an object hold something else, while the block runs."""
    (name, value), missing = next(iter(changed.items())), object()
    before = getattr(holder, name, missing)
    setattr(holder, name, value)
    try:
        yield
    finally:
        delattr(holder, name)
        if before is not missing:
            setattr(holder, name, before)


CHECKS = (
    every_swap_leaves_the_resident_layers_bits,
    a_layers_output_is_close_to_float64,
    addresses_that_were_not_refreshed_show,
    layers_that_rows_cannot_be_pointed_to_are_told_why,
    *ALLOCATIONS,
    *SELF_CHECKS,
    *STAGED,
    *SIDE_STREAMS,
    *CHOICE,
    *ON_DEVICE,
)


if __name__ == "__main__":
    tell(CHECKS)
