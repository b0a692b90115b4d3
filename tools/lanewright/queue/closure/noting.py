"""What is noted of a Python file while it is read, and what it comes to."""

import ast

from lanewright.queue.closure.names import (
    MODULE,
    Bound,
    Kind,
    Names,
    Scope,
    Use,
    module_of,
    seen_from,
)


class Noting:
    """Comprehensions and lambdas count to the scope around them: more is bound, less is missed.

    Args:
        path: The file's.
    """

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
        self._ops: dict[str | None, list[int]] = {}
        self._texts: dict[str, list[int]] = {}
        self._lazy = False

    def names(self) -> Names:
        """All that was read."""
        uses = tuple(
            use
            for found in self._found
            if (use := self._resolved(*found))
            and not (use.kind == "attribute" and use.name in self._asked)
        )
        return Names(
            self._module,
            self._scopes,
            uses,
            frozenset(self._stored),
            frozenset(self._asked),
            frozenset(filter(str.isidentifier, self._texts)),
            self._texts if "__getattr__" in self._scopes[MODULE].defined else {},
            self._ops,
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
