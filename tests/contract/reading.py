"""Reads off the glue's text what it expects of upstream."""

import ast
from collections.abc import Iterator

from tests.contract.glue import Glue, GlueModule, OurDefinition
from tests.contract.kinds import PLAIN, Kind, OurMethod, Use
from tests.contract.signature import Function, signature_of
from tests.contract.table import Table
from tests.contract.tree import inner_statements, targets
from tests.contract.walk import Walk


class Reader:
    """Walks all functions of the glue once.

    Attributes:
        glue: What is read.
        table: What its text cannot tell.
        uses: Found so far.
        unknown: ``file.py:line: expression`` of what may be upstream's and neither annotation nor
            table says so.
    """

    def __init__(self, glue: Glue, table: Table) -> None:
        self.glue, self.table = glue, table
        self.uses: set[Use] = set()
        self.unknown: set[str] = set()
        self._open: set[tuple[str, str]] = set()
        for module in glue.modules:
            Walk(self, module, None, dict(module.names)).block(module.syntax.body)
            for path, line in module.imports:
                self.uses.add(Use(f"{module.name}.py:{line}", path))
        for definition in glue.classes.values():
            self.uses.update(self._own_names(definition))

    def attribute_of_ours(self, owner: str, name: str) -> Kind | None:
        """What an attribute of the glue's own instance is; None where the class has none."""
        for definition in self.glue.lineage(owner):
            method = definition.methods.get(name)
            if method is None:
                found = self._value_of_ours(definition.module, definition.node, name)
            elif any(ast.unparse(each) == "property" for each in method.decorator_list):
                found = definition.module.annotated(method.returns, name, {})
            else:
                found = OurMethod(definition.node.name, name)
            if found is not None:
                return found
        return None

    def _value_of_ours(self, module: GlueModule, owner: ast.ClassDef, name: str) -> Kind | None:
        for each in owner.body:
            if any(isinstance(one, ast.Name) and one.id == name for one in targets(each)):
                told = self.table.root(module.name, name)
                return told or module.annotated(getattr(each, "annotation", None), name, {})
        if (owner.name, name) in self._open:
            return PLAIN
        self._open.add((owner.name, name))
        try:
            for method, each in _settings(owner, f"self.{name}"):
                walk = Walk(self, module, owner, dict(module.names)).within(method)
                if isinstance(each, ast.AnnAssign):
                    return module.annotated(each.annotation, name, walk.scope)
                return walk.kind(each.value)
        finally:
            self._open.discard((owner.name, name))
        return None

    def _own_names(self, definition: OurDefinition) -> Iterator[Use]:
        """Yield what a class of ours overrides, and names that must be its own alone."""
        for holder in self.glue.upstream(definition.node.name):
            for each in definition.node.body:
                where = definition.module.where(each)
                if isinstance(each, Function):
                    taken = signature_of(each, bound=True)
                    asks = _asks_super(each)
                    alone = not (asks or _calls_super(each))
                    needed = not asks
                    yield Use(where, holder, each.name, stands_in=taken, needed=needed, alone=alone)
                for one in targets(each):
                    yield Use(where, holder, ast.unparse(one), alone=True)


def _settings(
    owner: ast.ClassDef, target: str
) -> Iterator[tuple[Function, ast.Assign | ast.AnnAssign]]:
    for method in (each for each in owner.body if isinstance(each, Function)):
        for each in inner_statements(method):
            if isinstance(each, (ast.Assign, ast.AnnAssign)) and any(
                ast.unparse(one) == target for one in targets(each)
            ):
                yield method, each


def _calls_super(method: Function) -> bool:
    above = f"super().{method.name}"
    named = (each for each in ast.walk(method) if isinstance(each, ast.Attribute))
    return any(ast.unparse(each) == above for each in named)


def _asks_super(method: Function) -> bool:
    """Whether it takes what it overrides only where that is there."""
    asked = f"getattr(super(), '{method.name}', None)"
    return any(
        ast.unparse(each) == asked for each in ast.walk(method) if isinstance(each, ast.Call)
    )
