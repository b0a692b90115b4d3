"""A Python file read for its names; nothing of it is run."""

import ast
import copy
import warnings
from functools import lru_cache

from lanewright.queue.binding import Binding
from lanewright.queue.guards import Guards, guards_of, is_type_checking
from lanewright.queue.names import Bound, Names, Scope, Use, dotted
from lanewright.queue.registered import registered

ASKS = {"getattr", "hasattr", "setattr", "delattr"}
# Dots of a namespace's name: ``torch.ops.vllm``.
OF_OPS = 2


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


class _Reader(Binding, ast.NodeVisitor):
    """Classes, functions, what is asked of them, and where a failure is expected."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = self._owner(node.value)
        library = dotted(node.value) or ""
        is_op = library.startswith("torch.ops.") and library.count(".") == OF_OPS
        if is_op and "attribute" not in self._guards:
            at = node.end_lineno or 0
            self._found.append((Use(at, "op", library, self._scope, node.attr), ""))
        if not isinstance(node.ctx, ast.Load):
            self._stored.add(node.attr)
            if owner:
                self._scopes[owner].lines.setdefault(node.attr, []).append(node.end_lineno or 0)
        elif owner:
            self._use("attribute", node, owner, node.attr)
        elif isinstance(node.value, ast.Name):
            self._use("attribute", node, self._scope, node.attr, node.value.id)
        if not owner:
            self.visit(node.value)

    def _owner(self, node: ast.AST) -> Scope | None:
        """The class that ``self`` is of."""
        name = node.id if isinstance(node, ast.Name) else ""
        return next((scope for own, scope in self._owners[::-1] if own == name), None) or None

    def visit_Call(self, node: ast.Call) -> None:
        called, keywords = node.func, [each for each in node.keywords if each.arg]
        if isinstance(called, ast.Name) and called.id in ASKS:
            self._asked |= {str(each.value) for each in node.args if isinstance(each, ast.Constant)}
        for op, line in registered(node):
            self._ops.setdefault(op, []).append(line)
        for each in keywords:
            name = each.arg or ""
            at = ast.Constant(name, end_lineno=each.lineno)
            if isinstance(called, ast.Name):
                self._use("keyword", at, self._scope, name, called.id)
            elif isinstance(called, ast.Attribute) and (owner := self._owner(called.value)):
                self._use("keyword", at, (*owner, called.attr), name)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._strings.setdefault(node.value, []).append(node.lineno)

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

    def visit_If(self, node: ast.If) -> None:
        everything: Guards = frozenset(("name", "import", "attribute", "keyword"))
        self.visit(node.test)
        self._guarded(node.body, everything if is_type_checking(node.test) else frozenset())
        for statement in node.orelse:
            self.visit(statement)

    def _guarded(self, body: list[ast.stmt], guards: Guards) -> None:
        before, self._guards = self._guards, self._guards | guards
        for statement in body:
            self.visit(statement)
        self._guards = before
