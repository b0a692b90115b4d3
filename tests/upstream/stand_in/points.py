"""Where a source file can be edited without a look at what it says: by function, never by line."""

import ast
import itertools
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tests.upstream.stand_in.specs import Scope

# A call may be added only to plain functions: others are compiled, or read by their decorator.
PLAIN = {"classmethod", "override", "property", "staticmethod"}
CONFIGURATION = {"config", "dataclass"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Point:
    """A line, counted from 0, before which lines can be added.

    Attributes:
        at: The line.
        indent: Blanks before the added lines.
        owner: Name of the function or class around it, or of the one that follows.
        removed: How many lines can be taken out here.
    """

    at: int
    indent: str
    owner: str
    removed: int = 0


def points(source: bytes, scope: Scope) -> list[Point]:
    """Every point of a file that suits a scope, from top to bottom."""
    module = _parsed(source)
    assert module is not None
    lines = source.splitlines()
    find = {
        "field": _fields,
        "keyword": _keywords,
        "note": _statements,
        "use": _statements,
        "function": _definitions,
        "removal": _removals,
    }[scope]
    return sorted(set(find(module, lines)), key=lambda point: point.at)


def is_python(source: bytes) -> bool:
    """Whether it parses."""
    return _parsed(source) is not None


@lru_cache(maxsize=256)
def _parsed(source: bytes) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the parser would warn of is upstream's
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            return None


def _fields(module: ast.Module, lines: list[bytes]) -> Iterator[Point]:
    """Before a field with a default: what follows it has one too."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and _decorators(node) & CONFIGURATION:
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and statement.value:
                    yield from _before(statement, lines, node.name)


def _keywords(module: ast.Module, lines: list[bytes]) -> Iterator[Point]:
    """Before the closing bracket of a method's signature with one argument a line.

    Functions outside of classes may be operators, whose signature is their schema.
    """
    for node in _functions(module):
        given = [*node.args.args, *node.args.kwonlyargs]
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        if not given or given[0].arg not in {"self", "cls"} or node.args.kwarg:
            continue
        if not defaults or defaults[-1] is None:
            continue
        ends = [each.end_lineno for each in given] + [defaults[-1].end_lineno]
        at = max(end or 0 for end in ends)
        closed = at < len(lines) and lines[at].lstrip().startswith(b")")
        if closed and lines[at - 1].rstrip().endswith(b","):
            yield Point(at, _indent(lines[at - 1]), node.name)


def _statements(module: ast.Module, lines: list[bytes]) -> Iterator[Point]:
    """Before a statement of a function, but not before its first."""
    for node in _functions(module):
        for block in _blocks(node):
            for statement in block[1:]:
                yield from _before(statement, lines, node.name)


def _definitions(module: ast.Module, lines: list[bytes]) -> Iterator[Point]:
    """Before a function or class of the module that two empty lines precede."""
    for node in module.body:
        if isinstance(node, (ast.ClassDef, *_FUNCTIONS)):
            at = _first_line(node)
            if at > 2 and not lines[at - 1].strip() and not lines[at - 2].strip():
                yield Point(at, "", node.name)


def _removals(module: ast.Module, lines: list[bytes]) -> Iterator[Point]:
    """A whole function, with the empty lines after it."""
    for node in _functions(module):
        at, end = _first_line(node), node.end_lineno or 0
        while end < len(lines) and not lines[end].strip():
            end += 1
        if not node.decorator_list and not node.name.startswith("__"):
            yield Point(at, "", node.name, end - at)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _functions(module: ast.Module) -> Iterator[Function]:
    """Functions of the module and methods of its classes."""
    inside = [node.body for node in module.body if isinstance(node, ast.ClassDef)]
    for node in itertools.chain(module.body, *inside):
        if isinstance(node, _FUNCTIONS) and _decorators(node) <= PLAIN:
            yield node


def _blocks(function: Function) -> Iterator[list[ast.stmt]]:
    """The function's body and the blocks in it, but not those of functions inside."""
    pending: list[ast.stmt] = [function]
    while pending:
        node = pending.pop()
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, [])
            if block:
                yield block
            pending += [each for each in block if isinstance(each, (ast.If, ast.For, ast.With))]


def _before(statement: ast.stmt, lines: list[bytes], owner: str) -> Iterator[Point]:
    at = statement.lineno - 1
    starts = not lines[at][: statement.col_offset].strip()
    if starts and not isinstance(statement, (ast.ClassDef, *_FUNCTIONS)):
        yield Point(at, _indent(lines[at]), owner)


def _first_line(node: ast.ClassDef | Function) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1


def _decorators(node: ast.ClassDef | Function) -> set[str]:
    """Last part of each decorator's name."""
    return {re.split(r"[.(]", ast.unparse(each).split("(")[0])[-1] for each in node.decorator_list}


def _indent(line: bytes) -> str:
    return line[: len(line) - len(line.lstrip())].decode()
