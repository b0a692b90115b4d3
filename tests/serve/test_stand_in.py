"""The stand-in for the overlay answers with the very fields that the overlay answers with."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.serve.boot import EXTENSION, WORKERS
from lanewright.serve.equality.arms import FORCED
from tests.serve.stand_in import OVERLAY

REAL = Path(__file__).parents[2] / "overlay"


def tree(root: Path, module: str) -> ast.Module:
    return ast.parse((root / module.replace(".", "/")).with_suffix(".py").read_text())


def body(root: Path, path: str) -> list[ast.stmt]:
    """Statements of a class."""
    module, _, name = path.rpartition(".")
    (found,) = (
        node
        for node in tree(root, module).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    return found.body


def methods(root: Path, path: str) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in body(root, path) if isinstance(each, ast.FunctionDef)}


def fields(root: Path, method: str, path: str = EXTENSION) -> set[str]:
    """Keys of the dictionary that a method gives back, by default the worker extension's."""
    return {*_keys(methods(root, path)[method])}


def _keys(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            yield from (key.value for key in node.value.keys if isinstance(key, ast.Constant))  # type: ignore[misc]
        if isinstance(node, ast.Return) and isinstance(node.value, ast.IfExp):
            yield from _keys(ast.Return(node.value.orelse))


@pytest.mark.parametrize("method", ["expert_bank_status", "expert_bank_usage"])
def test_both_answer_with_the_same_fields(method: str) -> None:
    assert fields(OVERLAY, method) == fields(REAL, method)
    assert len(fields(REAL, method)) >= 4


def test_both_tell_the_same_of_two_banks() -> None:
    totals = {
        node.target.id
        for node in body(REAL, "expert_bank.barrier.Totals")
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    barrier = fields(REAL, "told", "expert_bank.barrier.Barrier")
    real = fields(REAL, "told", "expert_bank.two_bank.TwoBank") | barrier | totals
    assert fields(OVERLAY, "told", "expert_bank.glue.two_bank.TwoBank") == real
    assert len(real) >= 12
    for root in (OVERLAY, REAL):
        assert fields(root, "expert_bank_banks") == {"audit"}


def test_both_take_what_an_arm_calls() -> None:
    method, given = FORCED
    for root in (OVERLAY, REAL):
        _self, *taken = methods(root, EXTENSION)[method].args.args
        assert [each.arg for each in taken] == ["every", "pairs_per_layer", "seed"]
        assert len(taken) == len(given)


@pytest.mark.parametrize("root", [OVERLAY, REAL], ids=["stand-in", "overlay"])
@pytest.mark.parametrize("path", [EXTENSION, *WORKERS.values()])
def test_both_have_the_classes_that_a_boot_names(root: Path, path: str) -> None:
    module, _, name = path.rpartition(".")
    assert name in {node.name for node in tree(root, module).body if isinstance(node, ast.ClassDef)}
