"""How a Python file gives names to things other than its classes and functions."""

import ast

from lanewright.queue.closure.noting import Noting


class Binding(Noting, ast.NodeVisitor):
    """Names that are stored, imported, caught or matched."""

    def visit_Name(self, node: ast.Name) -> None:
        """A name is used, or stored or deleted, which binds it in its scope."""
        if isinstance(node.ctx, ast.Load):
            self._use("name", node, self._scope, node.id)
        else:
            self._bind(node.id, node.lineno)

    def visit_Global(self, node: ast.Global) -> None:
        """Its names are the module's."""
        self._globals |= {(self._scope, name) for name in node.names}

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Its names are a function's around it, which has to have them."""
        for name in node.names:
            self._use("name", node, self._scope[:-1], name)
            self._bind(name, node.lineno)

    def visit_Import(self, node: ast.Import) -> None:
        """It binds the first part of a dotted name, or the other name that is given."""
        for alias in node.names:
            self._import(alias.lineno, alias.name, "")
            first = alias.asname or alias.name.partition(".")[0]
            bound = self._bind(first, alias.lineno)
            if alias.asname or "." not in alias.name:
                bound.imports[first] = (alias.name, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """It binds names of a module, or, by a star, what cannot be told."""
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

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """It binds its arguments."""
        own = {arg.arg: arg.lineno for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
        for name, line in own.items():
            self._bind(name, line)
        before, self._owners = self._owners, [each for each in self._owners if each[0] not in own]
        self.generic_visit(node)
        self._owners = before

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """It binds what it catches."""
        if node.name:
            self._bind(node.name, node.lineno)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        """It binds what is captured."""
        if node.name:
            self._bind(node.name, node.lineno)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """It binds the rest of a sequence."""
        if node.name:
            self._bind(node.name, node.lineno)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """It binds the rest of a mapping."""
        if node.rest:
            self._bind(node.rest, node.lineno)
        self.generic_visit(node)
