"""What a Python file asks of what it knows, and what it gives to it, by attribute and by call."""

import ast

from lanewright.queue.closure.binding import Binding
from lanewright.queue.closure.names import MODULE, Scope, Use, dotted
from lanewright.queue.closure.registered import registered

ASKS = {"getattr", "hasattr", "setattr", "delattr"}
MAKES_UP = {"globals", "exec"}
GIVES = {"register_buffer", "register_parameter", "register_module", "add_module"}
# Dots of a namespace's name: ``torch.ops.vllm``.
OF_OPS = 2


class Attributes(Binding, ast.NodeVisitor):
    """Attributes and calls."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """It is used, or given by being stored; of an op of torch's, that."""
        owner = self._owner(node.value)
        library = dotted(node.value) or ""
        is_op = library.startswith("torch.ops.") and library.count(".") == OF_OPS
        if is_op and "attribute" not in self._guards:
            at = node.end_lineno or 0
            self._found.append((Use(at, "op", library, self._scope, node.attr), ""))
        if owner and node.attr == "__dict__":
            self._scopes[owner].open = True
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
        """Its keywords are used; some calls give attributes, ask for them or register ops."""
        called, keywords = node.func, [each for each in node.keywords if each.arg]
        if isinstance(called, ast.Name):
            self._by_name(called.id, node.args)
        if isinstance(called, ast.Attribute) and called.attr in GIVES:
            self._given(called.value, [*node.args, *(each.value for each in keywords)])
        if isinstance(called, ast.Attribute) and called.attr == "__setattr__" and node.args[1:]:
            self._given(node.args[0], node.args[1:])
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

    def _by_name(self, called: str, args: list[ast.expr]) -> None:
        """Calls by which names are asked for or made up."""
        if called in ASKS:
            self._asked |= {str(each.value) for each in args if isinstance(each, ast.Constant)}
        if called in MAKES_UP:
            self._scopes[MODULE].open = True
        is_told = len(args) > 1 and isinstance(args[1], ast.Constant)
        owner = self._owner(args[0]) if args else None
        if owner and called in {"setattr", "vars"} and not is_told:
            self._scopes[owner].open = True

    def _given(self, value: ast.expr, args: list[ast.expr]) -> None:
        """An attribute that torch gives a module by the name that comes first."""
        owner = self._owner(value)
        for name in args[:1]:
            if isinstance(name, ast.Constant):
                self._stored.add(str(name.value))
                if owner:
                    self._scopes[owner].lines.setdefault(str(name.value), []).append(name.lineno)
            elif owner:
                self._scopes[owner].open = True

    def visit_Constant(self, node: ast.Constant) -> None:
        """Text may be a name that a module makes up."""
        if isinstance(node.value, str):
            self._texts.setdefault(node.value, []).append(node.lineno)
