"""Holds what the glue expects against one release of upstream."""

import ast
from collections.abc import Iterable, Iterator

from packaging.specifiers import SpecifierSet

from tests.contract.classes import Attribute, attribute, constructor, external, lineage
from tests.contract.kinds import Use
from tests.contract.signature import (
    Function,
    Signature,
    against_call,
    against_replacing,
    signature_of,
)
from tests.contract.table import PLAIN_KIND, Table
from tests.contract.tree import Found, Tree

NEVER = "never"
ONE_OF_MANY = ("List", "list", "Sequence", "Tuple", "tuple")


def against(uses: Iterable[Use], tree: Tree, table: Table, version: str) -> list[str]:
    """Say what of the glue does not fit a release, by name; empty where all does."""
    found = [f"{use.where}: {reason}" for use in uses for reason in _use(use, tree, table, version)]
    return sorted({*found, *_types(tree, table), *_registered(tree, table)})


def member(tree: Tree, table: Table, holder: str, name: str) -> Attribute | str | None:
    """Find an attribute of a class, or who outside upstream's packages gives it.

    Returns:
        The attribute; the external base that the table says has it; or None.
    """
    found = tree.named(holder)
    if found is None:
        return None
    own = attribute(tree, found, name)
    if own is not None:
        return own
    if name in table.registered.get(holder, {}):
        return "register_parameter"
    return next(
        (base for base in external(tree, found) if name in table.external.get(base, ())), None
    )


def _use(use: Use, tree: Tree, table: Table, version: str) -> Iterator[str]:
    holder = tree.named(use.holder)
    if holder is None:
        yield f"{use.holder} is not there"
        return
    if not use.attribute:
        yield from _named(use, holder, tree)
        return
    has = member(tree, table, use.holder, use.attribute)
    if use.alone:
        if has is not None:
            yield f"{use.key} is upstream's too, and ours hides it"
        return
    if not use.needed:
        yield from _asked_for(use, table, version, there=has is not None)
        if has is None:
            return
    if has is None:
        yield f"{use.key} is not there"
        return
    if isinstance(has, str) or has.method is None:
        if use.stands_in is not None and not isinstance(has, str):
            yield f"{use.key} is no method any more"
        return
    taken = signature_of(has.method, bound=True)
    yield from _taken(use, taken)


def _named(use: Use, holder: Found, tree: Tree) -> Iterator[str]:
    if use.call is None and not use.results:
        return
    if isinstance(holder.node, ast.ClassDef):
        taken = constructor(tree, holder)
    elif isinstance(holder.node, Function):
        taken = signature_of(holder.node, bound=False)
    else:
        yield f"{use.key} is called, and is neither function nor class"
        return
    if use.call is not None and taken is not None:
        yield from _taken(use, taken)
    if use.results and isinstance(holder.node, Function):
        yield from _results(use, holder.node.returns)


def _taken(use: Use, taken: Signature) -> Iterator[str]:
    if use.call is not None:
        yield from (f"{use.key}: {each}" for each in against_call(use.call, taken))
    if use.stands_in is not None:
        yield from (f"{use.key}: {each}" for each in against_replacing(use.stands_in, taken))


def _results(use: Use, returns: ast.expr | None) -> Iterator[str]:
    """Say whether a result cannot be unpacked as it is, as far as its annotation tells."""
    if returns is None:
        return
    written = returns.value if isinstance(returns, ast.Subscript) else returns
    if ast.unparse(written).rpartition(".")[2] not in ONE_OF_MANY:
        yield f"{use.key} returns {ast.unparse(returns)}, which is unpacked to {use.results}"
        return
    fixed = isinstance(returns, ast.Subscript) and isinstance(returns.slice, ast.Tuple)
    if fixed and "..." not in ast.unparse(returns):
        count = len(returns.slice.elts)  # type: ignore[attr-defined]
        if count != use.results:
            yield f"{use.key} returns {count} values, which are unpacked to {use.results}"


def _asked_for(use: Use, table: Table, version: str, *, there: bool) -> Iterator[str]:
    """Say whether what the glue asks for is there where the table says it is."""
    said = table.optional.get(use.key)
    if said is None:
        if not there:
            yield f"{use.key} is not there, and the table does not say since when it is"
        return
    expected = said != NEVER and version in SpecifierSet(said)
    if expected != there:
        is_there = "there" if there else "not there"
        yield f"{use.key} is {is_there}, and the table says {said}"


def _types(tree: Tree, table: Table) -> Iterator[str]:
    """Say where an attribute is annotated as another class than the table's."""
    for key, value in table.types.items():
        holder, dot, name = key.partition(":")[2].partition(".")
        holder = f"{key.partition(':')[0]}:{holder}"
        if not dot or value == PLAIN_KIND:
            continue
        has = member(tree, table, holder, name)
        if has is None:
            yield f"contract.toml: {key} is not there"
        elif isinstance(has, Attribute) and has.annotation is not None:
            wanted = [value] if isinstance(value, str) else value
            classes = [tree.named(table.classes[each]) for each in wanted]
            named = list(_annotated(tree, has))
            fits = any(
                isinstance(base, Found) and base.path == each.path
                for found in classes
                if found
                for base in lineage(tree, found)
                for each in named
            )
            if named and not fits:
                told = ", ".join(each.path for each in named)
                yield f"contract.toml: {key} is {told}, and not {', '.join(wanted)}"


def _annotated(tree: Tree, has: Attribute) -> Iterator[Found]:
    """Yield upstream's classes in an annotation."""
    annotation = has.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    sides = [annotation]
    while sides:
        each = sides.pop()
        if isinstance(each, ast.BinOp):
            sides += [each.left, each.right]
        elif each is not None:
            found = tree.expression(has.owner.module, each)
            if found is not None and isinstance(found.node, ast.ClassDef):
                yield found


def _registered(tree: Tree, table: Table) -> Iterator[str]:
    """Say which parameter no method of upstream registers any more."""
    for holder, names in table.registered.items():
        for name, functions in names.items():
            for each in functions:
                path, _, method = each.rpartition(".")
                found = tree.named(path)
                has = None if found is None else attribute(tree, found, method)
                strings = {
                    one.args[0].value
                    for one in (ast.walk(has.node) if has else ())
                    if isinstance(one, ast.Call)
                    and ast.unparse(one.func).endswith("register_parameter")
                    and one.args
                    and isinstance(one.args[0], ast.Constant)
                }
                if name not in strings:
                    yield f"contract.toml: {each} does not register {holder}.{name}"
