"""A Python file read for its names; nothing of it is run."""

import ast
import copy
import warnings
from functools import lru_cache

from lanewright.queue.closure.attributes import Attributes
from lanewright.queue.closure.guards import (
    Guards,
    guards_of,
    guards_of_test,
    guards_of_with,
    is_type_checking,
)
from lanewright.queue.closure.names import Bound, Names, dotted


@lru_cache(maxsize=512)
def names_of(path: str, content: bytes) -> Names | None:
    """Read a file; None where it is no Python that compiles."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
            reader = _Reader(path)
            reader.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return reader.names()


class _Reader(Attributes, ast.NodeVisitor):
    """Classes, functions, what is asked of them, and where a failure is expected."""

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, node.lineno).defined.add(node.name)
        listed = node.args
        named = [*listed.posonlyargs, *listed.args, *listed.kwonlyargs]
        more = [each for each in (listed.vararg, listed.kwarg) if each]
        for expression in (
            *node.decorator_list,
            *listed.defaults,
            *filter(None, listed.kw_defaults),
        ):
            self.visit(expression)
        for annotation in (*(arg.annotation for arg in (*named, *more)), node.returns):
            self._visit_annotation(annotation)
        around = self._scopes[self._scope]
        is_method = around.bases is not None
        outer, self._scope = self._scope, (*self._scope, node.name)
        inside = self._scopes.setdefault(self._scope, Bound())
        given = {arg.arg: arg.lineno for arg in (*listed.args, *listed.kwonlyargs)}
        inside.takes = {**(inside.takes or {}), **given}
        plain = {"staticmethod", "classmethod"}
        inside.open |= bool(listed.kwarg) or not plain >= {dotted(d) for d in node.decorator_list}
        for arg in (*named, *more):
            self._bind(arg.arg, arg.lineno)
        owners = [own for own in self._owners if own[0] not in {a.arg for a in (*named, *more)}]
        if (
            is_method
            and named
            and not any(dotted(d) == "staticmethod" for d in node.decorator_list)
        ):
            owners.append((named[0].arg, outer))
        before, self._owners = self._owners, owners
        for statement in node.body:
            self.visit(statement)
        self._scope, self._owners = outer, before

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name, node.lineno).defined.add(node.name)
        for expression in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(expression)
        outer, self._scope = self._scope, (*self._scope, node.name)
        inside = self._scopes.setdefault(self._scope, Bound())
        inside.open |= any(each.arg == "metaclass" for each in node.keywords)
        inside.bases = [*(inside.bases or []), *(dotted(base) for base in node.bases)]
        for statement in node.body:
            self.visit(statement)
        inside.open |= bool({"__getattr__", "__getattribute__"} & inside.defined)
        self._scope = outer

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """What is added to has to be there."""
        target = node.target
        if isinstance(target, ast.Name | ast.Attribute):
            target = copy.copy(target)
            target.ctx = ast.Load()
        self.visit(target)
        self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        in_function = self._scopes[self._scope].takes is not None
        if not in_function:
            self._visit_annotation(node.annotation)
        if node.value:
            self.visit(node.value)

    def _visit_annotation(self, node: ast.AST | None) -> None:
        if node and not self._lazy:
            self.visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        self._guarded(node.body, guards_of(node))
        for statement in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(statement)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item)
        self._guarded(node.body, guards_of_with(node))

    def visit_If(self, node: ast.If) -> None:
        """What only type checkers see is neither there nor used when it runs."""
        self.visit(node.test)
        if not is_type_checking(node.test):
            self._guarded(node.body, guards_of_test(node.test))
        for statement in node.orelse:
            self.visit(statement)

    def _guarded(self, body: list[ast.stmt], guards: Guards) -> None:
        before, self._guards = self._guards, self._guards | guards
        for statement in body:
            self.visit(statement)
        self._guards = before
