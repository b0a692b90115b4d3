"""What a tree must pass before it may become a lane: a clean merge is not yet right code."""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lanewright.errors import LanewrightError

MARKER = re.compile(rb"^(?:<{7} |>{7} |\|{7} ).*$", re.MULTILINE)


class GateError(LanewrightError):
    """A built file cannot be right."""


def check_file(path: str, content: bytes, sides: Iterable[bytes]) -> None:
    """Check one file that an entry touched.

    Args:
        path: Its path in the lane's tree.
        content: What it became.
        sides: What it was on the way: base, ours, theirs.

    Raises:
        GateError: Conflict markers that no side had; Python that does not compile; a definition
            or field that the merge doubled.
    """
    known = list(sides)
    left = _left_markers(content, known)
    if left:
        first = next(found for found in MARKER.finditer(content) if found[0] in left)
        line = content[: first.start()].count(b"\n") + 1
        raise GateError(f"{path}, line {line}: a conflict marker was left in it")
    if not path.endswith(".py"):
        return
    if content in known:  # then no merge has doubled anything
        _compile(path, content)
        return
    doubled = _definitions(_parse(path, content))
    if known and max(doubled.values(), default=0) > 1:
        before = [_definitions(tree) for side in known if (tree := _try_parse(side))]
        for name, count in doubled.items():
            if count > 1 and count > max((each[name] for each in before), default=1):
                raise GateError(f"{path}: the merge defines {name} {count} times")


def _left_markers(content: bytes, sides: Iterable[bytes]) -> Counter[bytes]:
    """Marker lines that a file has more often than any side of it."""
    known = Counter[bytes]()
    for side in sides:
        known |= Counter(MARKER.findall(side))
    return Counter(MARKER.findall(content)) - known


def _parse(path: str, content: bytes) -> ast.Module:
    with _compiling(path):
        tree = ast.parse(content, path)
        compile(tree, path, "exec", dont_inherit=True)
    return tree


def _compile(path: str, content: bytes) -> None:
    """Do without the tree, which takes longer to make than all the rest."""
    with _compiling(path):
        compile(content, path, "exec", dont_inherit=True)


@contextmanager
def _compiling(path: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in upstream's code is upstream's affair
            yield
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise GateError(
            f"{path}, line {line or '?'}: does not compile: {str(error) or type(error).__name__}"
        ) from error


def _try_parse(content: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _definitions(tree: ast.Module) -> Counter[str]:
    return Counter(_named(tree, ""))


def _named(node: ast.AST, scope: str) -> Iterator[str]:
    """Functions, classes and annotated fields, by dotted name.

    Only direct children count: a name defined in both arms of an ``if`` is no double.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{scope}{child.name}"
            if not child.decorator_list or isinstance(child, ast.ClassDef):
                yield name
            yield from _named(child, f"{name}.")
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            yield f"{scope}{child.target.id}"
