"""Attributes, bases and constructors of upstream's classes."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tests.contract.signature import Function, Signature, signature_of
from tests.contract.tree import Found, Tree, inner_statements, statements, targets

Setting = tuple[str, ast.stmt, ast.expr | None]
PROPERTIES = ("property", "cached_property")


@dataclass(frozen=True)
class Attribute:
    """An attribute of a class or of its instances.

    Attributes:
        owner: Class that has it.
        node: The method, or the statement that sets it.
        annotation: Of its value; None where it has none.
    """

    owner: Found
    node: ast.stmt
    annotation: ast.expr | None

    @property
    def method(self) -> Function | None:
        """The method; None for a value or a property."""
        if not isinstance(self.node, Function) or _is_property(self.node):
            return None
        return self.node


def lineage(tree: Tree, found: Found) -> Iterator[Found | str]:
    """Yield a class and its bases, depth first; those from elsewhere by the name that is written."""
    yield found
    for base in getattr(found.node, "bases", []):
        written = base.value if isinstance(base, ast.Subscript) else base
        above = tree.expression(found.module, written)
        if above is not None and isinstance(above.node, ast.ClassDef):
            yield from lineage(tree, above)
        else:
            yield ast.unparse(written)


def attribute(tree: Tree, found: Found, name: str) -> Attribute | None:
    """Find an attribute in a class or its bases."""
    for each in lineage(tree, found):
        if isinstance(each, Found) and name in (own := _own(each)):
            return own[name]
    return None


def external(tree: Tree, found: Found) -> list[str]:
    """Name the bases that are not of upstream's packages."""
    return [each for each in lineage(tree, found) if isinstance(each, str)]


def constructor(tree: Tree, found: Found) -> Signature | None:
    """What a class takes: by ``__init__``, or as a dataclass; None where it is from elsewhere."""
    above = [each for each in lineage(tree, found) if isinstance(each, Found)]
    for each in above:
        own = _own(each).get("__init__")
        if own is not None and own.method is not None:
            return signature_of(own.method, bound=True)
        if _is_dataclass(each):
            return _fields([one for one in reversed(above) if _is_dataclass(one)])
    return None


@lru_cache(maxsize=1024)
def _own(found: Found) -> dict[str, Attribute]:
    """What a class itself defines: in its body, or on ``self`` in a method.

    A method or property stands before a value, and a value with an annotation before one without.
    """
    known: dict[str, Attribute] = {}
    for each in (*_in_body(found), *_on_self(found)):
        name, node, annotation = each
        before = known.get(name)
        if before is None or (
            not isinstance(before.node, Function)
            and (isinstance(node, Function) or (before.annotation is None is not annotation))
        ):
            known[name] = Attribute(found, node, annotation)
    return known


def _in_body(found: Found) -> Iterator[Setting]:
    for each in statements(getattr(found.node, "body", [])):
        if isinstance(each, Function):
            if not _is_overload(each):
                yield each.name, each, each.returns
        else:
            for one in targets(each):
                if isinstance(one, ast.Name):
                    yield one.id, each, getattr(each, "annotation", None)


def _on_self(found: Found) -> Iterator[Setting]:
    for method in getattr(found.node, "body", []):
        if not isinstance(method, Function) or not method.args.args:
            continue
        itself = method.args.args[0].arg
        hints = {each.arg: each.annotation for each in (*method.args.args, *method.args.kwonlyargs)}
        for each in inner_statements(method):
            for one in targets(each):
                if isinstance(one, ast.Attribute) and ast.unparse(one.value) == itself:
                    value = getattr(each, "value", None)
                    hint = hints.get(value.id) if isinstance(value, ast.Name) else None
                    yield one.attr, each, getattr(each, "annotation", hint)


def _fields(classes: list[Found]) -> Signature:
    names: dict[str, bool] = {}
    for each in classes:
        for one in getattr(each.node, "body", []):
            if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
                continue
            written = ast.unparse(one.annotation)
            value = "" if one.value is None else ast.unparse(one.value)
            if "ClassVar" in written or "init=False" in value:
                continue
            needed = one.value is None or (
                "field(" in value.lower() and "default" not in value.lower()
            )
            names[one.target.id] = needed
    required = frozenset(name for name, needed in names.items() if needed)
    return Signature(tuple(names), required)


def _is_dataclass(found: Found) -> bool:
    decorators = getattr(found.node, "decorator_list", [])
    return any(
        "dataclass" in ast.unparse(each) or "config" in ast.unparse(each) for each in decorators
    )


def _is_property(function: Function) -> bool:
    return any(ast.unparse(each).endswith(PROPERTIES) for each in function.decorator_list)


def _is_overload(function: Function) -> bool:
    return any(
        ast.unparse(each).endswith(("overload", ".setter")) for each in function.decorator_list
    )
