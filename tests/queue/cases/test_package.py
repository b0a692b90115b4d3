"""A package whose ``__init__`` brings in siblings, as vLLM's expert pool has it, taken in part."""

import pytest

from tests.queue.cases.lane import Lane
from tests.queue.cases.test_closure import Capture, hunks, text

POOL = "vllm/model_executor/layers/fused_moe/expert_pool"
DOTTED = POOL.replace("/", ".")
INIT, COPY, TABLES, LAYER = (
    f"{POOL}/{name}.py" for name in ("__init__", "copy", "tables", "layer")
)
USER = "vllm/model_executor/layers/fused_moe/routed_experts.py"
SIBLINGS = {
    COPY: b"def copy_rows(): ...\n",
    TABLES: b"from .copy import copy_rows\n\n\nclass RowTable: ...\n",
    LAYER: b"class PooledExperts: ...\n",
}
RELATIVE = b"""\
from .copy import copy_rows
from .layer import PooledExperts
from .tables import RowTable as Table

__all__ = ["PooledExperts", "Table", "copy_rows"]
"""
ABSOLUTE = RELATIVE.replace(b"from .", f"from {DOTTED}.".encode())
MODULES = b"""\
from . import copy, layer
from vllm.model_executor.layers.fused_moe.expert_pool import tables

__all__ = ["copy", "layer", "tables"]
"""
LAZY = b"""\
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .layer import PooledExperts
    from .tables import RowTable

MODULES = {"PooledExperts": ".layer", "RowTable": ".tables"}
__all__ = ["PooledExperts", "RowTable"]


def __getattr__(name):
    return getattr(importlib.import_module(MODULES[name], __name__), name)
"""


def choose(lane: Lane, head: dict[str, bytes], *paths: str) -> dict[str, str]:
    """Carry a change that brings these files, and take some; the names of all by their paths."""
    first = lane.start({USER: text("x = 0", "y = 0")})
    assert lane.carry("pull", first, lane.pull(head, first)) == 0
    names = {path: f"{path}:{name}" for (path, _), name in hunks(lane).items()}
    lane.select(*paths)
    return names


@pytest.mark.parametrize("init", [RELATIVE, ABSOLUTE, MODULES], ids=["relative", "absolute", "all"])
def test_an_init_that_brings_in_siblings_needs_them_and_what_they_need(
    init: bytes, lane: Lane, capfd: Capture
) -> None:
    names = choose(lane, {INIT: init, **SIBLINGS}, INIT)
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    own = names[INIT].rpartition(":")[2]
    line = init.splitlines().index(next(each for each in init.splitlines() if b"tables" in each))
    used = f"{DOTTED}.tables{'' if init == MODULES else '.RowTable'}"
    assert (
        f"  1: {INIT}, hunk {own}, line {line + 1}: uses {used}, which {names[TABLES]} defines,"
        " and that is not chosen\n"
    ) in error
    for sibling in SIBLINGS:
        assert f", which {names[sibling]} defines, and that is not chosen\n" in error
    needed = ", ".join(names[path] for path in sorted(SIBLINGS))
    assert f"  1 needs too: {needed}\n" in error


def test_of_siblings_that_are_not_all_chosen_only_the_rest_is_needed(
    lane: Lane, capfd: Capture
) -> None:
    names = choose(lane, {INIT: RELATIVE, **SIBLINGS}, INIT, TABLES, LAYER)
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    assert f"  1 needs too: {names[COPY]}\n" in error
    assert f"uses {DOTTED}.layer" not in error


def test_one_for_type_checkers_that_makes_names_up_is_not_refused(lane: Lane) -> None:
    choose(lane, {INIT: LAZY, **SIBLINGS}, INIT)
    assert lane.run("build") == 0


@pytest.mark.parametrize("init", [RELATIVE, ABSOLUTE, LAZY], ids=["relative", "absolute", "lazy"])
@pytest.mark.parametrize(
    "user",
    [
        f"from {DOTTED} import PooledExperts",
        "from .expert_pool import PooledExperts",
        "from vllm.model_executor.layers.fused_moe import expert_pool\ny = expert_pool.PooledExperts",
    ],
)
def test_who_imports_of_the_package_needs_its_init(
    user: str, init: bytes, lane: Lane, capfd: Capture
) -> None:
    head = {INIT: init, **SIBLINGS, USER: text(user, "y = 0")}
    names = choose(lane, head, USER, *SIBLINGS)
    capfd.readouterr()
    assert lane.run("build") == 1
    error = capfd.readouterr().err
    assert f"uses {DOTTED}.PooledExperts, which {names[INIT]} defines, and" in error
    assert f"  1 needs too: {names[INIT]}\n" in error


def test_without_an_init_a_sibling_can_be_used_by_itself(lane: Lane) -> None:
    user = f"from {DOTTED}.layer import PooledExperts"
    choose(lane, {INIT: RELATIVE, **SIBLINGS, USER: text(user, "y = 0")}, USER, LAYER)
    assert lane.run("build") == 0
