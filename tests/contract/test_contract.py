"""The glue fits every release that the lanes may be taken to.

What is checked: names, parameters and attributes, as upstream's text has them. What is not: what
a value means, shapes and dtypes; what is reached by ``getattr`` with a name that is computed; what
a lambda's parameters are; what our core (``expert_bank`` but for ``glue``) reads of an object that
the glue hands it; attributes that upstream sets by ``setattr`` or on another object than ``self``;
which of two definitions under an ``if`` is the one. An ``isinstance`` is believed in all of its
function.
"""

import re
from pathlib import Path

import pytest

from tests.contract.glue import Glue
from tests.contract.reading import Reader
from tests.contract.releases import Release
from tests.contract.scan import unscanned
from tests.contract.table import Table

GLUE = Path(__file__).parents[2] / "overlay" / "expert_bank" / "glue"
ROW = re.compile(r"w(?:13|2)_[a-z_]+")


@pytest.fixture(scope="session")
def glue(table: Table) -> Reader:
    return Reader(Glue.of(GLUE), table)


def test_all_that_the_glue_uses_is_known(glue: Reader) -> None:
    assert sorted(glue.unknown) == []


def test_the_glue_is_read(glue: Reader) -> None:
    keys = {each.key.rpartition(":")[2] for each in glue.uses}
    assert {
        "trtllm_fp4_block_scale_routed_moe",
        "get_accelerator_view_from_cpu_tensor",
        "TrtLlmMxfp4ExpertsModular.apply",
        "TrtLlmMxfp4ExpertsModular._max_supported_tokens",
        "FusedMoEConfig.should_defer_moe_finalize",
        "FusedMoEKernel.fused_experts",
        "FusedMoEMethodBase.create_weights",
        "RoutedExperts.forward_modular",
        "AllocationData.is_asleep",
        "CuMemAllocator.pointer_to_data",
        "CudaRTLibrary.cudaMemcpy",
        "Worker.discard",
        "Worker.execute_model",
        "Worker.sleep",
        "Worker.wake_up",
        "SchedulerOutput.total_num_scheduled_tokens",
        "GPUModelRunner.get_model",
    } <= keys
    (kernel,) = {
        each.call for each in glue.uses if each.holder.startswith("flashinfer:") and each.call
    }
    assert kernel.whole
    assert {"topk_ids", "do_finalize", "gemm2_bias", "local_expert_offset"} <= kernel.keywords


def test_upstream_is_searched_for_calls_of_all_that_is_replaced(glue: Reader, table: Table) -> None:
    assert unscanned(glue.uses, table) == []


def test_the_table_names_nothing_that_is_not_used(glue: Reader, table: Table) -> None:
    keys = {each.key for each in glue.uses}
    holders = {each.holder for each in glue.uses}
    assert {
        key for key in (*table.types, *table.optional, *table.spread) if key not in keys
    } == set()
    assert {each.of for each in table.scans} <= keys
    named = {
        *holders,
        *(
            name
            for key in table.registered.values()
            for by in key.values()
            for name in (one.rpartition(".")[0] for one in by)
        ),
    }
    assert {path for path in table.classes.values() if path not in named} == set()


def test_rows_that_the_glue_names_are_registered(table: Table) -> None:
    known = {name for names in table.registered.values() for name in names}
    named = {
        found
        for name in ("bank_call", "row_pointers")
        for found in re.findall(r'"(w(?:13|2)_[a-z_]+)"', (GLUE / f"{name}.py").read_text())
    }
    assert named
    assert named <= known


def test_the_glue_fits(release: Release, glue: Reader, table: Table) -> None:
    assert release.unfit(glue, table) == []
