"""Upstream's Python as text: modules, the names in them, and where an import leads."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
MOST_IMPORTS = 16


@dataclass(frozen=True)
class Found:
    """What a name stands for.

    Attributes:
        module: That defines it.
        node: A class or function; else the statement that sets it, or None for a module.
    """

    module: "Module"
    node: ast.stmt | None

    @property
    def path(self) -> str:
        name = getattr(self.node, "name", "")
        return f"{self.module.name}:{name}" if name else self.module.name


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield a module's or a class's own statements, those under if, try and with included."""
    for each in body:
        yield each
        if isinstance(each, Definition):
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(each, name, []))
        for handler in getattr(each, "handlers", []):
            yield from statements(handler.body)


def inner_statements(function: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements of a function, those of functions and classes inside it included."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(function, name, []):
            if isinstance(each, ast.stmt):
                yield each
            yield from inner_statements(each)


def targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement assigns to, one by one."""
    if isinstance(statement, ast.Assign):
        found = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        found = [statement.target]
    else:
        return []
    return [one for each in found for one in (each.elts if isinstance(each, ast.Tuple) else [each])]


@dataclass(frozen=True)
class Module:
    """One file.

    Attributes:
        name: With dots.
        package: Whether it is an ``__init__.py``.
        source: Its text.
    """

    name: str
    package: bool
    source: bytes = field(repr=False)

    @cached_property
    def syntax(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def names(self) -> dict[str, tuple[ast.stmt, ast.alias | None]]:
        """What is defined or imported; of several, what the first says."""
        found: dict[str, tuple[ast.stmt, ast.alias | None]] = {}
        for each in statements(self.syntax.body):
            if isinstance(each, Definition):
                if not any(ast.unparse(one).endswith("overload") for one in each.decorator_list):
                    found.setdefault(each.name, (each, None))
            elif isinstance(each, (ast.Import, ast.ImportFrom)):
                for alias in each.names:
                    if alias.name == "*":
                        continue
                    name = alias.asname or alias.name.partition(".")[0]
                    found.setdefault(name, (each, alias))
            for target in targets(each):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, (each, None))
        return found

    @cached_property
    def stars(self) -> list[str]:
        """Modules that all names are imported from."""
        return [
            self.imports_from(each)
            for each in statements(self.syntax.body)
            if isinstance(each, ast.ImportFrom) and each.names[0].name == "*"
        ]

    def imports_from(self, statement: ast.ImportFrom) -> str:
        """Name the module that a statement imports from, absolute."""
        if not statement.level:
            return statement.module or ""
        parts = self.name.split(".")
        above = statement.level - (1 if self.package else 0)
        base = parts[: len(parts) - above]
        return ".".join([*base, *([statement.module] if statement.module else [])])


class Tree:
    """Modules of some packages, read as they are asked for.

    Args:
        read: Gives a file's content by its path in the wheel; None where there is none.
        packages: Those whose modules are there; everything else is external.
    """

    def __init__(self, read: Callable[[str], bytes | None], packages: tuple[str, ...]) -> None:
        self._read = read
        self._packages = packages
        self._modules: dict[str, Module | None] = {}

    def within(self, module: str) -> bool:
        """Tell whether a module would be of these packages."""
        return module.partition(".")[0] in self._packages

    def module(self, name: str) -> Module | None:
        """Find a module; None where there is none."""
        if name not in self._modules:
            self._modules[name] = self._parse(name) if self.within(name) else None
        return self._modules[name]

    def find(self, module: str, name: str) -> Found | None:
        """Find what a module's name stands for, through re-exports."""
        for _ in range(MOST_IMPORTS):
            here = self.module(module)
            if here is None:
                return None
            known = here.names.get(name)
            if known is None:
                return self._unnamed(here, name)
            statement, alias = known
            if alias is None:
                return Found(here, statement)
            if isinstance(statement, ast.Import):
                imported = alias.name if alias.asname else name
                found = self.module(imported)
                return None if found is None else Found(found, None)
            if not isinstance(statement, ast.ImportFrom):
                return None
            module, name = here.imports_from(statement), alias.name
        return None

    def named(self, path: str) -> Found | None:
        """Find ``module:name``."""
        module, _, name = path.partition(":")
        if name:
            return self.find(module, name)
        found = self.module(module)
        return None if found is None else Found(found, None)

    def expression(self, module: Module, node: ast.expr) -> Found | None:
        """Find what a name or a dotted name means in a module."""
        if isinstance(node, ast.Name):
            return self.find(module.name, node.id)
        if isinstance(node, ast.Attribute):
            holder = self.expression(module, node.value)
            if holder is not None and holder.node is None:
                return self.find(holder.module.name, node.attr)
        return None

    def _unnamed(self, here: Module, name: str) -> Found | None:
        """Find what a module does not name itself: one below it, or what a star brings."""
        below = self.module(f"{here.name}.{name}")
        if below is not None:
            return Found(below, None)
        brought = (self.find(source, name) for source in here.stars if self.within(source))
        return next((each for each in brought if each is not None), None)

    def _parse(self, name: str) -> Module | None:
        path = name.replace(".", "/")
        for file, package in ((f"{path}/__init__.py", True), (f"{path}.py", False)):
            source = self._read(file)
            if source is not None:
                return Module(name, package, source)
        return None
