"""A Python file read for its names; nothing of it is run."""

import ast
import copy
import warnings
from functools import lru_cache

from lanewright.queue.guards import Guards, guards_of, is_type_checking
from lanewright.queue.names import (
    MODULE,
    Bound,
    Kind,
    Names,
    Scope,
    Use,
    dotted,
    module_of,
    seen_from,
)

ASKS = {"getattr", "hasattr", "setattr", "delattr"}


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


class _Reader(ast.NodeVisitor):
    """Comprehensions and lambdas count to the scope around them: more is bound, less is missed."""

    def __init__(self, path: str) -> None:
        self._module = module_of(path)
        above = self._module if path.endswith("/__init__.py") else self._module.rpartition(".")[0]
        self._package = above.split(".")
        self._scope: Scope = MODULE
        self._scopes: dict[Scope, Bound] = {MODULE: Bound()}
        self._owners: list[tuple[str, Scope]] = []
        self._globals: set[tuple[Scope, str]] = set()
        self._guards: frozenset[str] = frozenset()
        self._found: list[tuple[Use, str]] = []
        self._stored: set[str] = set()
        self._asked: set[str] = set()
        self._strings: dict[str, list[int]] = {}
        self._lazy = False

    def names(self) -> Names:
        """All that was read."""
        uses = tuple(use for found in self._found if (use := self._resolved(*found)))
        return Names(
            self._module,
            self._scopes,
            uses,
            frozenset(self._stored),
            frozenset(self._asked),
            self._strings if "__getattr__" in self._scopes[MODULE].defined else {},
        )

    def _resolved(self, use: Use, base: str) -> Use | None:
        """A use through a name, with what that name stands for in its scope; None if unknown."""
        if not base:
            return use
        for scope in seen_from(self._scopes, use.scope):
            bound = self._scopes[scope]
            if base not in bound.lines:
                continue
            if len(bound.lines[base]) > 1:
                return None
            if base in bound.imports:
                module, name = bound.imports[base]
                return Use(use.line, use.kind, module, (name,) if name else (), use.name)
            meant = (*scope, base)
            return Use(use.line, use.kind, "", meant, use.name) if base in bound.defined else None
        return None

    def _bind(self, name: str, line: int) -> Bound:
        scope = MODULE if (self._scope, name) in self._globals else self._scope
        self._scopes[scope].lines.setdefault(name, []).append(line)
        return self._scopes[scope]

    def _use(self, kind: Kind, node: ast.AST, scope: Scope, name: str, base: str = "") -> None:
        if kind not in self._guards:
            line = getattr(node, "end_lineno", 0)
            self._found.append((Use(line, kind, "", scope, name), base))

    def _import(self, line: int, module: str, name: str) -> None:
        if "import" not in self._guards:
            self._found.append((Use(line, "import", module, MODULE, name), ""))

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._use("name", node, self._scope, node.id)
        else:
            self._bind(node.id, node.lineno)

    def visit_Global(self, node: ast.Global) -> None:
        self._globals |= {(self._scope, name) for name in node.names}

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            self._bind(name, node.lineno)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._import(alias.lineno, alias.name, "")
            first = alias.asname or alias.name.partition(".")[0]
            bound = self._bind(first, alias.lineno)
            if alias.asname or "." not in alias.name:
                bound.imports[first] = (alias.name, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        above = self._package[: len(self._package) - node.level + 1] if node.level else []
        module = ".".join([*above, *([node.module] if node.module else [])])
        if node.module == "__future__":
            self._lazy |= any(alias.name == "annotations" for alias in node.names)
            return
        for alias in node.names:
            if alias.name == "*":
                self._scopes[self._scope].open = True
                self._import(alias.lineno, module, "")
                continue
            self._import(alias.lineno, module, alias.name)
            name = alias.asname or alias.name
            self._bind(name, alias.lineno).imports[name] = (module, alias.name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = self._owner(node.value)
        library = dotted(node.value) or ""
        if library.startswith("torch.ops._"):
            self._found.append((Use(node.end_lineno or 0, "op", library, MODULE, node.attr), ""))
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

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for arg in ast.walk(node.args):
            if isinstance(arg, ast.arg):
                self._bind(arg.arg, arg.lineno)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name, node.lineno)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self._bind(node.name, node.lineno)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name, node.lineno)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self._bind(node.rest, node.lineno)
        self.generic_visit(node)

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
