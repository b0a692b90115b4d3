"""Checks of what a load chooses for staging: buffer, copies, block, plan; run by ``cuda_glue``.

Banks that are told of a CUDA device are in the CPU's memory, and its streams are ``lazy_device``'s.
"""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from cuda_layers import CPU, E, K, built, model, two_allocations, worker
from lazy_device import lazy_device
from small_banks import bytes_of, raised
from staged_glue import MANY, ran
from vllm.config import VllmConfig, set_current_vllm_config

from expert_bank.config import BankConfig
from expert_bank.counter import PickCounter
from expert_bank.glue import allocating, layer_banks
from expert_bank.glue import layout as layouts
from expert_bank.glue.current import loading
from expert_bank.glue.host_terms import EAGER_TIMES
from expert_bank.glue.kernel_block import ROW_POINTERS, TRTLLM, block_of
from expert_bank.glue.loading import Loading
from expert_bank.glue.reading import reader
from expert_bank.plan import Mode
from expert_bank.poison import NAN
from expert_bank.refused import Refused
from expert_bank.staging.pool import StagedAllocation
from expert_bank.staging.threshold import Cold, null_share
from expert_bank.swaps import Swap
from expert_bank.two_allocations import TwoAllocations

CUDA = torch.device("cuda", 1)
HOT = [5, 3]


def asked(stage: str, mode: Mode = "mirror") -> BankConfig:
    """Ask for banks that are staged."""
    hot = ",".join(map(str, HOT))
    return BankConfig(
        hot,
        mode,
        "first",
        poison=False,
        read_floor=0.0,
        node=None,
        prefill_stage=stage,
    )


@contextmanager
def told_cuda() -> Iterator[tuple[Callable[[Loading], None], list[tuple[torch.device, int]]]]:
    """Yield what tells a load's banks of a CUDA device, and what was allocated on which."""
    made: list[tuple[torch.device, int]] = []

    def allocations(device: torch.device, *, stage: int = 0) -> TwoAllocations:
        made.append((device, stage))
        return two_allocations(stage)

    def counter(*args: Any, device: torch.device, **kwargs: Any) -> PickCounter:  # noqa: ANN401 - the class's
        assert device == CUDA
        return PickCounter(*args, device=CPU, **kwargs)

    def lay(load: Loading) -> None:
        load.banks._device = CUDA  # noqa: SLF001 - before it is laid out
        if not load.config.prefill_stage:
            # What it began with is not chosen again.
            load.banks.allocate = two_allocations(0)

    with ExitStack() as stack:
        for where, name, told in (
            (allocating, "TwoAllocations", allocations),
            (layer_banks, "PickCounter", counter),
            (layer_banks, "reader", lambda memory, _device: reader(memory, CPU)),
        ):
            stack.enter_context(patch.object(where, name, told))
        yield lay, made


def a_cuda_devices_rows_come_on_a_stream_of_its_own() -> None:
    """Bit for bit, whichever stream is ahead, with NaN behind each step; one stream, of that device."""
    for ahead in (False, True):
        with told_cuda() as (lay, made), lazy_device(forward=True, side=ahead) as device:
            banked = model(HOT, "mirror", poison=True, stage="2", lay=lay)
            assert made == [(CUDA, (E - HOT[0]) + (E - HOT[1]))]
            ((named, _),) = device.sides
            assert named == CUDA
            staging = banked.two_bank.staging
            assert staging is not None
            expected = ran(banked, prefill=False)
            for number in range(4):
                assert ran(banked, prefill=True) == expected, (ahead, staging.off)
                hot = banked.two_bank.table.is_hot()[number % 2]
                promote, demote = (int(each.nonzero()[0][0]) for each in (~hot, hot))
                banked.two_bank.barrier.swap([Swap(number % 2, promote, demote)])
            assert (staging.off, staging.done.steps, staging.done.rows) == ("", 4, 32)
            assert sum(device.batches) == 2 * staging.done.rows
            assert all(bool(bytes_of(each).eq(NAN).all()) for each in staging.buffer())


def a_cpus_rows_come_by_a_thread() -> None:
    """Into memory behind the banks' own; no stream is made there, nor where nothing is staged."""
    with lazy_device() as device:
        banked = model(HOT, "mirror", stage="2", lay=lambda _load: None).two_bank
        with told_cuda() as (lay, _made):
            plain = model(HOT, "mirror", lay=lay).two_bank
        allocated, staging = banked.kept[1], banked.staging
        assert isinstance(allocated, StagedAllocation)
        assert allocated.rows == 8
        assert staging is not None
        with banked.step(MANY, prefill=True):
            assert staging.enter(0) is staging.layers[0].table
        assert any(each.name.startswith("expert_bank-stage") for each in threading.enumerate())
        assert (plain.staging, device.sides, device.batches) == (None, [], [])


def a_plan_has_the_buffer_the_tables_and_the_loaders_files() -> None:
    """Each as its own term, and the block that the layer's kernel has, in what is told and decided."""
    lines: list[str] = []
    seen: list[tuple[set[int], torch.device]] = []

    def tables(modules: Any, device: torch.device) -> int:  # noqa: ANN401 - vLLM's
        seen.append(({id(each) for each in modules}, device))
        return 77_000

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.safetensors").write_bytes(b"x" * 500)
        given = worker()
        given.vllm_config.model_config.model = folder
        given.vllm_config.load_config.safetensors_load_strategy = "eager"
        with (
            patch.object(layouts, "other_tables", tables),
            patch.object(layouts, "block_of", lambda _layer, device: {CPU: 3}[device]),
            set_current_vllm_config(VllmConfig()),
        ):
            load = Loading(asked("1"), given, lines.append)
            with loading(load):
                layers = [built(number) for number in range(len(HOT))]
                load.begin()
    layout, row = load.layout, sum(each[0].nbytes for each in layers[0].parameters())
    assert layout.stage is not None
    # One layer's, and the second has most.
    assert (layout.stage.rows, layout.stage.bytes) == (5, 5 * row)
    plan = layout.plan
    terms = plan.staging, plan.tables_on_host, plan.loader
    assert terms == (5 * row, 77_000, EAGER_TIMES * 500)
    ((modules, device),) = seen
    assert device == CPU
    assert {id(each) for each in layers} <= modules
    assert layout.block == 3
    least = Cold.of((3, 5), K, 3).least(null_share((3, 5), E))
    assert any(f"is staged from {least} tokens on" in each for each in lines), lines


def the_block_that_was_decided_sets_the_threshold() -> None:
    """Of the engine that runs, too."""
    for block in (1, ROW_POINTERS):
        with (
            told_cuda() as (lay, _made),
            lazy_device(forward=True),
            patch.object(layouts, "block_of", lambda *_, n=block: n),
        ):
            staging = model(HOT, "mirror", stage="2", lay=lay).two_bank.staging
        assert staging is not None
        told = staging.decision.told()
        least = Cold.of((3, 5), K, block).least(null_share((3, 5), E))
        assert (told["block"], told["least_tokens"]) == (block, least)


def a_block_is_that_of_the_kernel_that_runs() -> None:
    """One pick on a CPU, whatever the weights are; else our own kernel's, or TRT-LLM's."""
    with set_current_vllm_config(VllmConfig()):
        layer: Any = built(0)
    assert (block_of(layer, CUDA), block_of(layer, CPU)) == (ROW_POINTERS, 1) == (16, 1)
    layer.quant_method = torch.nn.Identity()
    assert (block_of(layer, CUDA), block_of(layer, CPU)) == (TRTLLM, 1) == (8, 1)


def rows_of_a_file_are_not_staged() -> None:
    """Refused before anything of a model is built, whatever the folder; either of the two alone is not."""

    def begun(stage: str, mode: Mode) -> Loading:
        return Loading(asked(stage, mode), worker(), lambda _line: None)

    with patch.object(layer_banks, "cold_file", lambda *_: None):
        assert begun("", "file").banks.of == {}
        assert begun("2", "exclusive").banks.of == {}
        refusal = raised(Refused, lambda: begun("2", "file"))
    assert refusal.startswith("moe_prefill_stage: with moe_cold_rows file "), refusal
    assert "\ntake moe_prefill_stage out, or use moe_cold_rows mirror" in refusal


CHECKS = (
    a_cuda_devices_rows_come_on_a_stream_of_its_own,
    a_cpus_rows_come_by_a_thread,
    a_plan_has_the_buffer_the_tables_and_the_loaders_files,
    the_block_that_was_decided_sets_the_threshold,
    a_block_is_that_of_the_kernel_that_runs,
    rows_of_a_file_are_not_staged,
)
