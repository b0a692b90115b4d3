"""Two calls of the TRT-LLM MXFP4 kernel, one output; by a double of that kernel alone.

FlashInfer's kernel needs a GPU of sm_100 or sm_103 and is not ours. ``trtllm_kernel`` stands in for
it in the form that its documentation gives; the calls, their merge and the finalize are what a
CUDA lane runs, and the experts and the modular kernel around them are vLLM's own.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.conftest import ENVIRONMENT, FOLDER
from tests.contract.releases import releases
from tests.contract.signature import Function, signature_of
from tests.contract.table import Table
from tests.contract.tree import Tree
from tests.contract.wheels import UnavailableError
from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

SCRIPT = "two_calls.py"
KERNEL = "flashinfer:trtllm_fp4_block_scale_routed_moe"
CHECKS = (
    "every_map_has_one_calls_bits",
    "staged_rows_have_one_calls_bits",
    "a_warm_up_has_the_call_over_the_slots_too",
    "every_map_has_one_calls_bits_within_vllms_kernel",
    "more_tokens_than_a_call_takes_come_in_parts",
    "a_model_that_finalizes_is_given_upstreams_type",
    "experts_of_a_release_that_never_deferred_finalize",
    "a_layer_is_bound_to_its_two_calls",
    "the_self_check_sees_calls_that_are_tuned_apart",
    "a_padded_width_is_cut",
    "each_call_is_told_its_own_range",
    "no_token_is_no_error",
    "a_row_or_a_scale_of_another_expert_shows",
    "picks_served_twice_or_never_are_counted",
    "a_bank_without_rows_is_refused",
    "other_layers_and_machines_are_refused",
)


@pytest.fixture(scope="module")
def folder(laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the script has written."""
    made = tmp_path_factory.mktemp("two_calls")
    laid("0.32.0").failures(SCRIPT, folder=made)
    return made


@pytest.mark.parametrize("check", CHECKS)
def test_two_calls(folder: Path, check: str) -> None:
    assert json.loads((folder / "result.json").read_text())[check] is None


def test_every_check_is_told(folder: Path) -> None:
    assert set(json.loads((folder / "result.json").read_text())) == set(CHECKS), INSIDE / SCRIPT


@pytest.mark.parametrize("version", ["0.30.0", "0.31.0", "0.32.0", "0.33.0"])
def test_the_kernel_takes_every_keyword_that_it_was_given(folder: Path, version: str) -> None:
    """As it ran, against the FlashInfer that each release requires; the contract reads the text."""
    try:
        release = releases(Table.read(), version, FOLDER, ENVIRONMENT)
    except UnavailableError as error:
        pytest.skip(str(error))
    found = Tree(release.read, ("vllm", "flashinfer")).named(KERNEL)
    assert found is not None
    assert isinstance(found.node, Function)
    given = set(json.loads((folder / "keywords.json").read_text()))
    assert given
    assert given <= set(signature_of(found.node, bound=False).names)
