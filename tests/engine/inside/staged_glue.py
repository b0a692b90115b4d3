"""Checks of staging where banks are two allocations and rows are pointed to; run by ``cuda_glue``."""

import random
from types import SimpleNamespace

import torch
from checks import bits
from cuda_layers import CPU, WIDTH, E, K, Model, model
from self_checks import required
from small_banks import raised
from vllm.config import CUDAGraphMode

from expert_bank.glue.captured import captured, most_captured
from expert_bank.glue.row_pointers import RowPointers
from expert_bank.plan import Mode
from expert_bank.refused import Refused
from expert_bank.swaps import Swap
from expert_bank.two_allocations import TwoAllocations

TOKENS, MANY = 6, 10_000
MODES: tuple[Mode, ...] = ("mirror", "exclusive")


def given() -> tuple[torch.Tensor, torch.Tensor]:
    """Draw what a layer is given: [T, K] and int64[T, k]."""
    source = torch.Generator().manual_seed(31)
    ids = torch.rand(TOKENS, E, generator=source).topk(K).indices
    return torch.randn(TOKENS, WIDTH, generator=source).to(torch.float16), ids


def ran(made: Model, *, prefill: bool) -> list[bytes]:
    """Run both layers in a step."""
    x, ids = given()
    with made.two_bank.step(MANY, prefill=prefill):
        return [bits(made.forward(layer, x, ids)) for layer in range(len(made.layers))]


def staged_steps_have_the_resident_layers_bits_through_swaps() -> None:
    """Both modes, whole buffers and small ones; poisoned behind each step."""
    draw = random.Random(11)  # noqa: S311 - no secret
    for mode in MODES:
        for size in ("1", "2"):
            made = model([5, 3], mode, poison=True, stage=size)
            staging = made.two_bank.staging
            assert staging is not None
            expected = ran(made, prefill=False)
            for number in range(10):
                assert ran(made, prefill=True) == expected
                hot = made.two_bank.table.is_hot()[number % 2]
                promote, demote = (draw.choice(e.nonzero()[0].tolist()) for e in (~hot, hot))
                made.two_bank.barrier.swap([Swap(number % 2, promote, demote)])
                assert ran(made, prefill=False) == expected
            rows = made.two_bank.swapper.banks[0].row_bytes
            assert staging.off == ""
            assert (staging.done.steps, staging.done.rows) == (10, 80)
            assert staging.done.bytes == 80 * rows
            assert made.two_bank.audit() == []


def staged_rows_are_read_and_no_others() -> None:
    """The negative control: with other bytes in the slots the output is another."""
    made = model([5, 3], "mirror", stage="2")
    staging = made.two_bank.staging
    assert staging is not None
    expected = ran(made, prefill=False)
    x, ids = given()
    with made.two_bank.step(MANY, prefill=True):
        right = bits(made.forward(0, x, ids))
        for each in made.two_bank.swapper.banks[0].tensors:
            assert each.stage is not None
            each.stage.fill_(1.0)
        # Copied already, and read from there: what is there now shows.
        pointers = made.layers[0].row_pointers
        assert pointers is not None
        weights = torch.rand(ids.shape, generator=torch.Generator().manual_seed(3))
        wrong = bits(pointers(x, weights, ids))
    assert right == expected[0]
    assert wrong != expected[0]
    assert isinstance(pointers, RowPointers)
    assert bits(pointers(x, weights, ids)) == expected[0]


def a_buffer_is_the_devices_and_one_for_all_layers() -> None:
    """Of the rows' shapes; a layer of others is refused, one without cold rows has none."""
    made = model([5, 3, 8], "mirror", stage="2")
    first, second, third = (bank.tensors for bank in made.two_bank.swapper.banks)
    for one, other in zip(first, second, strict=True):
        assert one.stage is other.stage
        assert one.stage is not None
        assert one.stage.shape == (8, *one.hot.shape[1:])
    assert [each.stage for each in third] == [None, None]
    allocate = TwoAllocations(CPU, register=lambda *_: 0, unregister=lambda *_: 0, stage=3)
    shapes = {"w": (torch.float16, (4,))}
    memory = made.two_bank.kept[0]
    (tensor,) = allocate(shapes, 2, 3, memory)  # type: ignore[arg-type]
    assert tensor.stage is allocate.buffer["w"]
    longer = {"w": (torch.float16, (5,))}
    assert "several shapes" in raised(Refused, lambda: allocate(longer, 2, 3, memory))  # type: ignore[arg-type]


def the_self_check_asks_over_staged_rows_too() -> None:
    """A kernel that reads them otherwise is refused."""
    made = model([5, 3], "mirror", stage="2")
    required(made)
    staging = made.two_bank.staging
    assert staging is not None
    assert (staging.done.steps, staging.done.bytes) == (0, 0)
    pointers = made.layers[0].row_pointers
    assert pointers is not None
    right = staging.layers[0].refreshed[0]

    def wrong() -> None:
        right()
        for addresses in pointers.staged.values():
            addresses.copy_(addresses.roll(1))

    staging.layers[0].refreshed[0] = wrong
    told = raised(Refused, lambda: required(made))
    assert "differ once staged" in told, told


def a_step_of_a_captured_size_is_told_as_one() -> None:
    """By its tokens; none is where nothing is captured."""
    for mode, most, told in (
        (CUDAGraphMode.FULL_AND_PIECEWISE, 512, 512),
        (CUDAGraphMode.FULL_DECODE_ONLY, 16, 16),
        (CUDAGraphMode.NONE, 512, 0),
        (None, 512, 0),
        (CUDAGraphMode.PIECEWISE, None, 0),
    ):
        config = SimpleNamespace(
            compilation_config=SimpleNamespace(cudagraph_mode=mode, max_cudagraph_capture_size=most)
        )
        assert most_captured(config) == told, (mode, most)
        assert captured(config, 1) is (told > 0)
        assert captured(config, 512) is (told == 512)
        assert not captured(config, 513)


CHECKS = (
    staged_steps_have_the_resident_layers_bits_through_swaps,
    staged_rows_are_read_and_no_others,
    a_buffer_is_the_devices_and_one_for_all_layers,
    the_self_check_asks_over_staged_rows_too,
    a_step_of_a_captured_size_is_told_as_one,
)
