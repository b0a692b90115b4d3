"""Checks of the two calls over banks: ``two_calls.py RESULT``; needs vLLM, and no GPU.

The calls and the finalize are ours, the layer's experts and the kernel object around them vLLM's
own. FlashInfer's kernel is not there without a GPU: ``trtllm_kernel`` stands in for it.
RESULT's neighbour ``keywords.json`` becomes the keywords that the kernel was given.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from checks import bits, tell
from trtllm_layer import (
    HOT,
    KEYWORDS,
    KINDS,
    NAME,
    TOKENS,
    WIDTH,
    E,
    K,
    layer,
    maps,
    placed,
)
from two_calls_faults import CHECKS as FAULTS
from vllm.model_executor.layers.fused_moe import modular_kernel as mk
from vllm.model_executor.layers.fused_moe.moe_output import (
    UnfinalizedMoEOutput,
    convert_flashinfer_moe_output,
)
from vllm.model_executor.layers.fused_moe.prepare_finalize import MoEPrepareAndFinalizeNoDPEPModular

from expert_bank.counter import PickCounter
from expert_bank.finalize import finalize_reference
from expert_bank.glue.serving import serve
from expert_bank.row_sums import tensor_sums
from expert_bank.self_check import map_variant
from expert_bank.staging.batched import one_by_one
from expert_bank.staging.slots import Run
from expert_bank.table import Table
from expert_bank.table_layout import BANK, ROW
from expert_bank.two_bank import TwoBank

MAPS = 200


def every_map_has_one_calls_bits() -> None:
    """Of one call over all rows and the slots in order; each pick is served once."""
    for kind in KINDS:
        with layer(**kind) as made:
            given = made.given()
            expected = bits(made.resident(given))
            for table in maps(MAPS):
                made.lay(table)
                output, told = made.apply(given, table)
                assert told is None
                assert bits(output) == expected
            assert list(made.calls.audit()) == []


def every_map_has_one_calls_bits_within_vllms_kernel() -> None:
    """As a layer calls its experts: by the modular kernel, which prepares and hands on."""
    with layer() as made:
        given = made.given()
        expected = bits(made.resident(given))
        whole = mk.FusedMoEKernel(MoEPrepareAndFinalizeNoDPEPModular(), made.experts)
        for table in maps(MAPS):
            made.lay(table)
            output = whole.apply(
                given["hidden_states"],
                made.bank.tensors[0].hot,
                made.bank.tensors[2].hot,
                given["topk_weights"],
                placed(given["topk_ids"], table),
                given["activation"],
                E,
                None,
                False,  # noqa: FBT003 - vLLM's
            )
            assert bits(output) == expected


def staged_rows_have_one_calls_bits() -> None:
    """In the place of the cold rows, which are none while they are; again in place behind the step."""
    for kind in KINDS:
        with layer(**kind, slots=E - HOT + 1) as made:
            given, stage = made.given(), made.stage
            assert stage is not None
            expected = bits(made.resident(given))
            for table in maps(MAPS // 4, full=True):
                made.lay(table)
                made.table.host[0] = table.numpy()
                stage.mark()
                stage.refresh()
                for name, rows in stage.slots().items():
                    assert len(rows) == E - HOT, name
                    rows.view(torch.uint8).fill_(0xFF)
                one_by_one(stage.copies(Run(0, 0, E - HOT, 0)))
                kept = [each.cold.clone() for each in made.bank.tensors]
                for each in made.bank.tensors:
                    each.cold.view(torch.uint8).fill_(0xFF)
                stage.read = True
                assert bits(made.apply(given, stage.table)[0]) == expected
                stage.read = False
                assert bits(made.apply(given, stage.table)[0]) != expected
                for each, rows in zip(made.bank.tensors, kept, strict=True):
                    each.cold.copy_(rows)
                assert bits(made.apply(given, table)[0]) == expected
            assert list(made.calls.audit()) == []


def a_warm_up_has_the_call_over_the_slots_too() -> None:
    """For the number of its rows is tuned apart; what it gives is nobody's."""
    for kind in KINDS:
        with layer(**kind, slots=E - HOT + 1) as made:
            given, stage = made.given(), made.stage
            assert stage is not None
            for rows in stage.slots().values():
                rows.view(torch.uint8).fill_(0xFF)
            table = next(iter(maps(1, full=True)))
            made.lay(table)
            expected = bits(made.apply(given, table)[0])
            made.kernel.told.clear()
            assert bits(made.apply(given, table)[0]) == expected
            plain = [*made.kernel.told]
            stage.warm = True
            for capturing in (False, True):
                made.kernel.told.clear()
                with patch("torch.cuda.is_current_stream_capturing", lambda told=capturing: told):
                    assert bits(made.apply(given, table)[0]) == expected
                warm = [] if capturing else [(HOT, E - HOT)]
                assert [each[2:] for each in made.kernel.told] == [
                    *warm, *(each[2:] for each in plain),
                ]  # fmt: skip
            assert list(made.calls.audit()) == []


def more_tokens_than_a_call_takes_come_in_parts() -> None:
    """The same bits; a token's scales go with it, and no call has too many."""
    for kind in KINDS:
        with layer(**kind) as made:
            given, table = made.given(11), maps(1)[0]
            made.lay(table)
            expected = bits(made.resident(given))
            asked: list[Any] = []

            def most(top_k: int, experts: int, asked: list[Any] = asked) -> int:
                asked.append((top_k, experts))
                return 4

            made.experts._max_supported_tokens = most  # noqa: SLF001 - the kernel's limit, as vLLM knows it
            made.kernel.most = 4
            made.kernel.told.clear()
            made.experts.moe_config.defer_moe_finalize(-1)
            output, told = made.apply(given, table)
            # Each launch permutes into its own buffer, so such a step is never left unfinalized.
            assert made.experts.moe_config.should_defer_moe_finalize(11)
            assert told is None
            assert bits(output) == expected
            assert [tokens for tokens, *_ in made.kernel.told] == [4, 4, 4, 4, 3, 3]
            assert asked == [(K, 16)]


def a_model_that_finalizes_is_given_upstreams_type() -> None:
    """Of upstream's form, by upstream's own check; finalized in slot order it has the same bits."""
    for kind in KINDS:
        with layer(**kind) as made:
            given = made.given()
            expected = bits(made.resident(given))
            made.experts.moe_config.defer_moe_finalize(TOKENS)
            for table in maps(MAPS):
                made.lay(table)
                output, told = made.apply(given, table)
                assert type(told) is UnfinalizedMoEOutput
                assert output.isnan().all()
                convert_flashinfer_moe_output(
                    [told.gemm2_permuted, told.expert_weights, told.expanded_idx_to_permuted_idx],
                    do_finalize=False,
                    num_tokens=TOKENS,
                    top_k=K,
                )
                picks = told.gemm2_permuted[told.expanded_idx_to_permuted_idx.long()]
                finalize_reference(picks, told.expert_weights, output)
                assert bits(output) == expected
            # What the model cannot take unfinalized is finalized here.
            more = made.given(TOKENS + 1)
            output, told = made.apply(more, table)
            assert told is None
            assert bits(output) == bits(made.resident(more))


def experts_of_a_release_that_never_deferred_finalize() -> None:
    """Before 0.31 the configuration knows no limit, and these experts always finalize."""
    with layer() as made:
        given, table = made.given(), maps(1)[0]
        made.lay(table)
        expected = bits(made.resident(given))
        made.experts.moe_config = SimpleNamespace(
            max_num_tokens=64,
            dp_size=1,
            elastic_ep_max_dp_size=None,
            should_defer_moe_finalize=lambda _: True,
        )
        output, told = made.apply(given, table)
        assert told is None
        assert bits(output) == expected


def a_layer_is_bound_to_its_two_calls() -> None:
    """Its counts, its table, and a count of wrong picks that each audit tells."""
    with layer() as made:
        del made.experts.apply
        whole = mk.FusedMoEKernel(MoEPrepareAndFinalizeNoDPEPModular(), made.experts)
        bound: Any = SimpleNamespace(quant_method=SimpleNamespace(moe_kernel=whole))
        cpu = torch.device("cpu")
        table = Table([HOT], E, cpu)
        counter = PickCounter([NAME], experts=E, picks_per_token=K, device=cpu, banks=2)
        two_bank = TwoBank([made.bank], table, counter, [], lambda: None)
        serve([bound], two_bank)
        assert bound.table is table.device[0]
        assert bound.pick_counts is counter.counts[0]
        assert bound.scheduled_tokens is counter.scheduled
        drawn, given = maps(1)[0], made.given()
        made.lay(drawn)
        assert bits(made.apply(given, drawn)[0]) == bits(made.resident(given))
        (audit,) = two_bank.audits
        assert list(audit()) == []
        made.kernel.early = -HOT
        made.apply(given, drawn)
        assert len(list(audit())) == 1


def the_self_check_sees_calls_that_are_tuned_apart() -> None:
    """It swaps a row from one call into the other; by layer and experts."""
    for kind in KINDS:
        for apart in (False, True):
            with layer(**kind) as made:
                drawn, cpu = maps(1)[0], torch.device("cpu")
                made.lay(drawn)
                made.kernel.tuned_apart = apart
                table = Table([HOT], E, cpu)
                table.fill(0, drawn[BANK].tolist(), drawn[ROW].tolist())
                counter = PickCounter([NAME], experts=E, picks_per_token=K, device=cpu, banks=2)
                sums = tensor_sums(list(made.rows.values()))
                two_bank = TwoBank([made.bank], table, counter, [sums], lambda: None)
                given = made.given()

                def run(
                    _: int,
                    experts: list[int],
                    made: Any = made,  # noqa: ANN401 - trtllm_layer's
                    given: dict[str, Any] = given,
                    table: Table = table,
                ) -> torch.Tensor:
                    others = [each for each in range(E) if each not in experts]
                    ids = torch.tensor([[*experts, *others][:K]] * TOKENS)
                    found: torch.Tensor = made.apply({**given, "topk_ids": ids}, table.device[0])[0]
                    return found

                wrong = map_variant(two_bank, run, 0)
                assert bool(wrong) is apart, wrong
                assert all(line.startswith(f"{NAME}, experts ") for line in wrong)
                assert two_bank.audit() == []


def a_padded_width_is_cut() -> None:
    """Where the kernel's rows are wider than the model's."""
    with layer() as made:
        given, table = made.given(), maps(1)[0]
        made.lay(table)
        output, _ = made.apply(given, table, width=WIDTH - 8)
        assert bits(output) == bits(made.resident(given, width=WIDTH - 8))
        assert bits(output) == bits(made.resident(given)[:, : WIDTH - 8])


def each_call_is_told_its_own_range() -> None:
    """Hot places from 0 on, cold ones behind them, in a number of experts that 4 divides."""
    for hot, cold, told in ((5, 8, 16), (1, 9, 12), (9, 1, 12), (4, 8, 12), (8, 9, 20)):
        with layer(hot=hot, cold=cold) as made:
            given, table = made.given(), maps(1, hot, cold)[0]
            made.lay(table)
            expected = bits(made.resident(given))
            made.kernel.told.clear()
            assert bits(made.apply(given, table)[0]) == expected
            assert made.kernel.told == [
                (TOKENS, told, 0, hot),
                (TOKENS, told, hot, cold),
            ]


def no_token_is_no_error() -> None:
    """A step may have none, and then nothing is called."""
    with layer() as made:
        made.kernel.told.clear()
        output, told = made.apply(made.given(0), maps(1)[0])
        assert (output.shape, told, made.kernel.told) == ((0, WIDTH), None, [])


CHECKS: tuple[Callable[[], None], ...] = (
    every_map_has_one_calls_bits,
    staged_rows_have_one_calls_bits,
    a_warm_up_has_the_call_over_the_slots_too,
    every_map_has_one_calls_bits_within_vllms_kernel,
    more_tokens_than_a_call_takes_come_in_parts,
    a_model_that_finalizes_is_given_upstreams_type,
    experts_of_a_release_that_never_deferred_finalize,
    a_layer_is_bound_to_its_two_calls,
    the_self_check_sees_calls_that_are_tuned_apart,
    a_padded_width_is_cut,
    each_call_is_told_its_own_range,
    no_token_is_no_error,
)


if __name__ == "__main__":
    tell((*CHECKS, *FAULTS))
    Path(sys.argv[1]).with_name("keywords.json").write_text(json.dumps(sorted(KEYWORDS)))
