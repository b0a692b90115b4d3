"""The stand-in for the overlay answers with the very fields that the overlay answers with."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.serve.boot import EXTENSION, WORKERS
from tests.serve.stand_in import OVERLAY

REAL = Path(__file__).parents[2] / "overlay"


def tree(root: Path, module: str) -> ast.Module:
    return ast.parse((root / module.replace(".", "/")).with_suffix(".py").read_text())


def fields(root: Path, method: str) -> set[str]:
    """Keys of the dictionary that a method of the worker extension gives back."""
    module, _, name = EXTENSION.rpartition(".")
    (extension,) = (
        node
        for node in tree(root, module).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    (function,) = (
        node for node in extension.body if isinstance(node, ast.FunctionDef) and node.name == method
    )
    return {*_keys(function)}


def _keys(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            yield from (key.value for key in node.value.keys if isinstance(key, ast.Constant))  # type: ignore[misc]


@pytest.mark.parametrize("method", ["expert_bank_status", "expert_bank_usage"])
def test_both_answer_with_the_same_fields(method: str) -> None:
    assert fields(OVERLAY, method) == fields(REAL, method)
    assert len(fields(REAL, method)) >= 4


@pytest.mark.parametrize("root", [OVERLAY, REAL], ids=["stand-in", "overlay"])
@pytest.mark.parametrize("path", [EXTENSION, *WORKERS.values()])
def test_both_have_the_classes_that_a_boot_names(root: Path, path: str) -> None:
    module, _, name = path.rpartition(".")
    assert name in {node.name for node in tree(root, module).body if isinstance(node, ast.ClassDef)}
