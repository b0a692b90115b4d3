"""Goes through the statements of one scope of the glue."""

import ast
from collections.abc import Callable
from functools import partial

from tests.contract.expressions import Expressions
from tests.contract.kinds import (
    PLAIN,
    Kind,
    Many,
    Name,
    OurClass,
    OurMethod,
    Ours,
    Row,
    Theirs,
    Unknown,
    Values,
)
from tests.contract.signature import Function, signature_of


class Walk(Expressions):
    """One scope; those inside it are walked when it is done."""

    def within(self, function: Function | ast.Lambda) -> "Walk":
        """Enter a function; its parameters are what they are annotated as, or the table says."""
        walk = Walk(self.reader, self.module, self.owner, dict(self.scope))
        arguments = function.args
        extras = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        walk.scope.update(dict.fromkeys([each.arg for each in extras], PLAIN))
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if isinstance(function, ast.Lambda):
                walk.scope[each.arg] = PLAIN
            elif each.arg == "self" and self.owner is not None:
                walk.scope[each.arg] = Ours(self.owner.name)
            else:
                kind = self.module.annotated(each.annotation, each.arg, self.scope)
                told = self.reader.table.root(self.module.name, each.arg)
                known = told is None or isinstance(kind, (Theirs, Ours))
                walk.scope[each.arg] = kind if known else told or kind
        walk.narrow(function)
        return walk

    def narrow(self, node: ast.AST) -> None:
        """Believe every ``isinstance`` of a scope, in all of it."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and ast.unparse(each.func) == "isinstance":
                name, wanted = ast.unparse(each.args[0]), each.args[1]
                classes = wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]
                kinds = [self.scope.get(ast.unparse(one), PLAIN) for one in classes]
                theirs = tuple(kind.path for kind in kinds if isinstance(kind, Name))
                if len(theirs) == len(kinds):
                    self.narrowed[name] = Theirs(theirs)
                elif len(kinds) == 1 and isinstance(kinds[0], OurClass):
                    self.narrowed[name] = Ours(kinds[0].name)
        self.scope.update({k: v for k, v in self.narrowed.items() if k in self.scope})

    def block(self, body: list[ast.stmt]) -> None:
        """Go through statements; functions that are defined here come last."""
        later: list[Callable[[], None]] = []
        self.each(body, later)
        for call in later:
            call()

    def each(self, body: list[ast.stmt], later: list[Callable[[], None]]) -> None:
        """Go through statements that may be within others."""
        for node in body:
            if isinstance(node, Function):
                later.append(partial(self._function, node))
            elif isinstance(node, ast.ClassDef):
                for base in node.bases:
                    self.kind(base)
                Walk(self.reader, self.module, node, dict(self.scope)).block(node.body)
            else:
                self._statement(node)
                for name in ("body", "orelse", "finalbody"):
                    self.each(getattr(node, name, []), later)
                for handler in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                    self.each(handler.body, later)

    def _function(self, node: Function) -> None:
        for decorator in node.decorator_list:
            self.kind(decorator)
        self.within(node).block(node.body)

    def _statement(self, node: ast.stmt) -> None:
        """Look at a statement, less the blocks below it."""
        match node:
            case ast.Import() | ast.ImportFrom():
                self.scope.update(self.module.imported(node))
            case ast.Assign():
                kind = self.kind(node.value)
                for target in node.targets:
                    self.assign(target, kind, node.value)
            case ast.AnnAssign():
                value = PLAIN if node.value is None else self.kind(node.value)
                kind = self.module.annotated(node.annotation, ast.unparse(node.target), self.scope)
                better = isinstance(kind, Unknown) and isinstance(value, Theirs)
                self.assign(node.target, value if better else kind, node.value)
            case ast.For() | ast.AsyncFor():
                self.assign(node.target, self.element(self.kind(node.iter)), None)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    kind = self.kind(item.context_expr)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, kind, None)
            case _:
                self._parts(node)

    def assign(self, target: ast.expr, kind: Kind, value: ast.expr | None) -> None:
        """Give a target what is assigned to it."""
        match target:
            case ast.Name():
                told = self.reader.table.root(self.module.name, target.id)
                if told is not None and not isinstance(kind, (Theirs, Ours, Many, Values)):
                    kind = told
                self.scope[target.id] = self.narrowed.get(target.id, kind)
            case ast.Tuple() | ast.List():
                if isinstance(value, ast.Call):
                    self._unpacked(value, len(target.elts))
                several = [self.element(kind)] * len(target.elts)
                parts = kind.of if isinstance(kind, Row) else several
                for each, part in zip(target.elts, parts, strict=False):
                    self.assign(each, part, None)
            case ast.Starred():
                self.assign(target.value, kind, None)
            case ast.Attribute():
                self._put(target, kind)
            case _:
                self.kind(target)

    def _put(self, target: ast.Attribute, kind: Kind) -> None:
        """Note an attribute that is set; one of upstream's by a method of ours replaces it."""
        self.kind(target)
        holder = self.settled(self.kind(target.value))
        if isinstance(holder, Theirs) and isinstance(kind, OurMethod):
            method = self.reader.glue.classes[kind.owner].methods[kind.name]
            for each in holder.classes:
                self.use(target, each, target.attr, stands_in=signature_of(method, bound=True))

    def _unpacked(self, value: ast.Call, count: int) -> None:
        function = self.kind(value.func)
        if isinstance(function, Name):
            self.use(value, function.path, results=count)
