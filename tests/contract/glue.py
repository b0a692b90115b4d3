"""The glue's modules and classes, as their text has them."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.contract.kinds import (
    PLAIN,
    Kind,
    Many,
    Name,
    OurClass,
    Ours,
    Theirs,
    Unknown,
    Values,
    either,
)
from tests.contract.signature import Function
from tests.contract.tree import statements

UPSTREAM = ("vllm", "flashinfer")
PACKAGE = "expert_bank.glue"
ANY = ("Any", "object")
SEVERAL = ("Sequence", "Iterator", "Iterable", "list", "set", "frozenset", "tuple", "Collection")
MAPPINGS = ("dict", "Mapping", "MutableMapping")


@dataclass(frozen=True)
class OurDefinition:
    """A class of the glue."""

    module: "GlueModule"
    node: ast.ClassDef

    @property
    def methods(self) -> dict[str, Function]:
        return {each.name: each for each in self.node.body if isinstance(each, Function)}


@dataclass
class GlueModule:
    """One file of the glue.

    Attributes:
        name: Without the package.
        syntax: Of the file.
        classes: Of the glue, by name; shared by all its modules.
    """

    name: str
    syntax: ast.Module
    classes: dict[str, OurDefinition]
    imports: list[tuple[str, int]] = field(default_factory=list)

    def where(self, node: ast.AST) -> str:
        return f"{self.name}.py:{getattr(node, 'lineno', 0)}"

    @cached_property
    def names(self) -> dict[str, Kind]:
        """What the module's own names are; a function's own imports are in its scope."""
        found: dict[str, Kind] = {}
        for each in statements(self.syntax.body):
            if isinstance(each, ast.ClassDef):
                found[each.name] = OurClass(each.name)
            elif isinstance(each, (ast.Import, ast.ImportFrom)):
                found.update(self.imported(each))
        return found

    def imported(self, statement: ast.Import | ast.ImportFrom) -> dict[str, Kind]:
        """Take the names that an import brings, and remember those of upstream."""
        found: dict[str, Kind] = {}
        module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names:
            name = alias.asname or alias.name
            if isinstance(statement, ast.Import):
                module, _, last = alias.name.rpartition(".")
                upstream = alias.name.partition(".")[0] in UPSTREAM
                if upstream and (not module or not alias.asname):
                    raise ValueError(f"{self.where(statement)}: import names, not {alias.name}")
                path = f"{module}:{last}"
            else:
                upstream = module.partition(".")[0] in UPSTREAM
                path = f"{module}:{alias.name}"
            if upstream:
                self.imports.append((path, statement.lineno))
                found[name] = Name(path)
            elif module.startswith(PACKAGE) and alias.name in self.classes:
                found[name] = OurClass(alias.name)
            else:
                found[name] = PLAIN
        return found

    @cached_property
    def unknown_names(self) -> set[str]:
        """Names that stand for anything in an annotation."""
        aliases = {
            target.id
            for each in self.syntax.body
            if isinstance(each, ast.Assign) and ast.unparse(each.value) in ANY
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        return {*ANY, *aliases}

    def annotated(self, node: ast.expr | None, text: str, scope: Mapping[str, Kind]) -> Kind:
        """What an annotation says; ``text`` is how that which has it is written."""
        match node:
            case None:
                return Unknown(text)
            case ast.Constant(value=str(quoted)):
                return self.annotated(ast.parse(quoted, mode="eval").body, text, scope)
            case ast.Name(id=name):
                known = scope.get(name, self.names.get(name, PLAIN))
                return Unknown(text) if name in self.unknown_names else self._instance(known)
            case ast.BinOp():
                sides = (node.left, node.right)
                return either([self.annotated(each, text, scope) for each in sides])
            case ast.Subscript(value=ast.Name(id=name)):
                return self._several(name, node.slice, f"{text}[]", scope)
        return PLAIN

    def _several(self, name: str, held: ast.expr, text: str, scope: Mapping[str, Kind]) -> Kind:
        """What a container's annotation says."""
        parts = held.elts if isinstance(held, ast.Tuple) else [held]
        if name in SEVERAL:
            return Many(self.annotated(parts[0], text, scope))
        return Values(self.annotated(parts[-1], text, scope)) if name in MAPPINGS else PLAIN

    @staticmethod
    def _instance(named: Kind) -> Kind:
        if isinstance(named, Name):
            return Theirs((named.path,))
        return Ours(named.name) if isinstance(named, OurClass) else PLAIN


@dataclass
class Glue:
    """All files of the glue, or stand-ins of them.

    Args:
        sources: Text by the module's name.
    """

    sources: Mapping[str, str]

    def __post_init__(self) -> None:
        self.classes: dict[str, OurDefinition] = {}
        self.modules = [
            GlueModule(name, ast.parse(text), self.classes) for name, text in self.sources.items()
        ]
        for module in self.modules:
            for each in module.syntax.body:
                if isinstance(each, ast.ClassDef):
                    if each.name in self.classes:
                        raise ValueError(f"{module.where(each)}: a second class {each.name}")
                    self.classes[each.name] = OurDefinition(module, each)

    @classmethod
    def of(cls, folder: Path) -> "Glue":
        """Read a folder's modules."""
        return cls({path.stem: path.read_text() for path in sorted(folder.glob("*.py"))})

    def lineage(self, name: str) -> Iterator[OurDefinition]:
        """Yield a class and its bases, of the glue only."""
        definition = self.classes[name]
        yield definition
        for base in definition.node.bases:
            kind = self.base(definition, base)
            if isinstance(kind, OurClass):
                yield from self.lineage(kind.name)

    def upstream(self, name: str) -> tuple[str, ...]:
        """Upstream's classes that a class of the glue is derived from."""
        found = [
            kind.path
            for each in self.lineage(name)
            for base in each.node.bases
            if isinstance(kind := self.base(each, base), Name)
        ]
        return tuple(dict.fromkeys(found))

    def keys_returned(self, method: str) -> frozenset[str]:
        """Name the keys of the dictionaries that ``Class.method`` returns, where they are written."""
        owner, _, name = method.partition(".")
        returned = (
            each.value
            for each in ast.walk(self.classes[owner].methods[name])
            if isinstance(each, ast.Return)
        )
        return frozenset(
            str(key.value)
            for each in returned
            if isinstance(each, ast.Dict)
            for key in each.keys
            if isinstance(key, ast.Constant)
        )

    @staticmethod
    def base(definition: OurDefinition, node: ast.expr) -> Kind:
        """What a base is."""
        if isinstance(node, ast.Name):
            return definition.module.names.get(node.id, PLAIN)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder = definition.module.names.get(node.value.id, PLAIN)
            if isinstance(holder, Name):
                return Name(f"{holder.path.replace(':', '.')}:{node.attr}")
        return PLAIN
