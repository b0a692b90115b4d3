"""Which modules a Python file names, be it in an import or in a string."""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

from lanewright.queue.closure.names import module_of

MEANT = re.compile(r"(\w+(?:\.\w+)+)(?::[\w.]+)?")


@lru_cache(maxsize=512)
def modules_named(path: str, content: bytes) -> frozenset[str]:
    """Dotted names of modules that a file names, and of the packages that they are in.

    A string counts that is a dotted name and nothing else, with ``:name`` behind it or not: so
    modules are named for ``importlib.import_module`` and in registries. What follows the module in
    it, or is imported from it, is taken for a module too.

    Args:
        path: The file's place in its tree, which relative imports start from.
        content: Its bytes; where they are no Python, nothing is named.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    package = module_of(path).split(".")
    if not path.endswith("/__init__.py"):
        package = package[:-1]
    return frozenset(
        name[: at.end()].removesuffix(".")
        for node in ast.walk(tree)
        for name in _named(node, package)
        for at in re.finditer(r"\w+(?:\.|$)", name)
    )


def _named(node: ast.AST, package: list[str]) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        case ast.Constant(value=str() as value) if meant := MEANT.fullmatch(value):
            yield meant[1]
