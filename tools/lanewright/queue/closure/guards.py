"""Where a name may be missing on purpose."""

import ast
from collections.abc import Iterable

Guards = frozenset[str]
CAUGHT = {
    "NameError": {"name"},
    "AttributeError": {"attribute"},
    "TypeError": {"keyword"},
    "ImportError": {"import"},
    "ModuleNotFoundError": {"import"},
    "Exception": {"import"},
    "BaseException": {"import"},
}


def guards_of(node: ast.Try) -> Guards:
    """The kinds of use whose failure a ``try`` expects."""
    found: set[str] = set()
    for handler in node.handlers:
        caught = handler.type
        if caught is None:
            found |= CAUGHT["BaseException"]
            continue
        found |= _caught(caught.elts if isinstance(caught, ast.Tuple) else [caught])
    return frozenset(found)


def guards_of_with(node: ast.With | ast.AsyncWith) -> Guards:
    """The kinds of use whose failure ``contextlib.suppress`` takes."""
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    return _caught(each for call in calls if _last(call.func) == "suppress" for each in call.args)


def guards_of_test(test: ast.expr) -> Guards:
    """Imports, where an ``if`` looks whether there is such a module."""
    calls = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
    return frozenset({"import"} if any(_last(each) == "find_spec" for each in calls) else ())


def _caught(errors: Iterable[ast.expr]) -> Guards:
    return frozenset(kind for each in errors for kind in CAUGHT.get(_last(each), ()))


def is_type_checking(test: ast.expr) -> bool:
    """Whether what an ``if`` holds is for type checkers alone."""
    return _last(test) == "TYPE_CHECKING"


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
