"""Where a name may be missing on purpose."""

import ast

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
        for each in caught.elts if isinstance(caught, ast.Tuple) else [caught]:
            found |= CAUGHT.get(_last(each), set())
    return frozenset(found)


def is_type_checking(test: ast.expr) -> bool:
    """Whether what an ``if`` holds is for type checkers alone."""
    return _last(test) == "TYPE_CHECKING"


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
