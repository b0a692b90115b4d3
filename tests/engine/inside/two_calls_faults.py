"""Checks that faults of the two calls show, and of what is refused; run by ``two_calls``."""

from types import SimpleNamespace
from unittest.mock import patch

import torch
from checks import bits
from small_banks import raised
from trtllm_layer import COLD_ROWS, HOT, KINDS, NAME, TOKENS, E, layer, maps, placed
from vllm.model_executor.layers.fused_moe import modular_kernel as mk
from vllm.model_executor.layers.fused_moe.prepare_finalize import MoEPrepareAndFinalizeNoDPEPModular

from expert_bank.glue.two_calls import against_two_calls
from expert_bank.refused import Refused
from expert_bank.table_layout import BANK, PLACE, ROW


def a_row_or_a_scale_of_another_expert_shows() -> None:
    """The negative control: one tensor's rows of two experts exchanged, or left behind."""
    for kind in KINDS:
        with layer(**kind) as made:
            given = made.given()
            expected = bits(made.resident(given))
            table = maps(1)[0]
            picked = given["topk_ids"][0, :2].tolist()
            for tensor in made.bank.tensors:
                made.lay(table)
                assert bits(made.apply(given, table)[0]) == expected
                one, other = (made.bank.row(*table[[BANK, ROW], e].tolist()) for e in picked)
                number = made.bank.tensors.index(tensor)
                kept = one[number].clone()
                one[number].copy_(other[number])
                other[number].copy_(kept)
                assert bits(made.apply(given, table)[0]) != expected, tensor.name
                one[number].view(torch.uint8).fill_(0xFF)
                assert bits(made.apply(given, table)[0]) != expected, tensor.name


def picks_served_twice_or_never_are_counted() -> None:
    """And told by the layer's name; deferred or not. They add nothing to their token's sum."""
    for defers in (False, True):
        for early, place in ((1, HOT - 1), (-1, HOT)):
            with layer() as made:
                given = made.given()
                at = ((table, placed(given["topk_ids"], table)) for table in maps(60))
                table, amiss = next((t, int((p == place).sum())) for t, p in at if place in p)
                made.lay(table)
                if defers:
                    made.experts.moe_config.defer_moe_finalize(TOKENS)
                made.kernel.early = early
                made.apply(given, table)
                assert int(made.calls.wrong) == amiss
                assert list(made.calls.audit()) == [
                    f"{NAME}: {amiss} picks were not served by exactly one of its two calls"
                ]
    with layer() as made:
        given, table = made.given(), maps(1)[0]
        made.lay(table)
        expected = made.resident(given)
        lost = table.clone()
        lost[PLACE, given["topk_ids"][0, 0]] = HOT + COLD_ROWS
        without = {**given, "topk_weights": given["topk_weights"].clone()}
        without["topk_weights"][given["topk_ids"] == given["topk_ids"][0, 0]] = 0
        output, _ = made.apply(given, lost)
        assert bits(output) == bits(made.resident(without)) != bits(expected)
        assert int(made.calls.wrong) == int((given["topk_ids"] == given["topk_ids"][0, 0]).sum())


def a_bank_without_rows_is_refused() -> None:
    """The kernel has no call over no expert."""
    for hot, cold in ((0, E), (E, 0)):
        told = raised(Refused, layer(hot=hot, cold=cold).__enter__)
        assert told.startswith(f"{NAME}: {hot} hot and {cold} cold rows")
        assert told.endswith("give each layer at least one hot and one cold expert")


def other_layers_and_machines_are_refused() -> None:
    """By the name of what they are."""
    with layer() as made:
        whole = mk.FusedMoEKernel(MoEPrepareAndFinalizeNoDPEPModular(), made.experts)
        ours = SimpleNamespace(quant_method=SimpleNamespace(moe_kernel=whole))
        for has, told in (((10, 0), None), ((10, 3), None), ((9, 0), "sm_90"), ((12, 0), "sm_120")):
            with patch.object(torch.cuda, "get_device_capability", lambda has=has: has):
                found = against_two_calls(ours)
            wanted = f"the machine has {told}, and this needs sm_100 and sm_103"
            assert found == (told and wanted)
    for method in (SimpleNamespace(), SimpleNamespace(moe_kernel=None)):
        found = against_two_calls(SimpleNamespace(quant_method=method))
        assert found == "its experts are NoneType"


CHECKS = (
    a_row_or_a_scale_of_another_expert_shows,
    picks_served_twice_or_never_are_counted,
    a_bank_without_rows_is_refused,
    other_layers_and_machines_are_refused,
)
