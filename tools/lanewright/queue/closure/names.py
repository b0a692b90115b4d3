"""What a Python file binds and what it uses, by scope."""

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

Scope = tuple[str, ...]
Kind = Literal["name", "import", "attribute", "keyword", "op"]
MODULE: Scope = ()


@dataclass(frozen=True)
class Use:
    """A name that a file needs somebody to define.

    Attributes:
        line: Where, 1-based.
        kind: ``name``: seen from a scope of its own file; ``import``: a name of a module, or with
            an empty name the module; ``attribute``: of a class or module; ``keyword``: an argument
            that a function or class takes; ``op``: one of ``torch.ops._C``, ``torch.ops.vllm`` and
            the like.
        module: Dotted name of the module meant; empty for its own file.
        scope: The scope that it is seen from, or the class or function meant.
        name: It.
    """

    line: int
    kind: Kind
    module: str
    scope: Scope
    name: str

    def __str__(self) -> str:
        """As a person would say it."""
        within = () if self.kind == "op" else self.scope
        owner = ".".join([self.module, *within] if self.module else within)
        if self.kind == "name":
            return self.name
        if self.kind == "keyword":
            return f"{owner}({self.name}=)"
        return f"{owner}.{self.name}" if self.name else owner


@dataclass
class Bound:
    """One scope.

    Attributes:
        lines: Per name, the lines that bind it.
        imports: Per imported name, the module and the name there (empty: the module itself).
        defined: Names that are a class or function of this scope.
        bases: Of a class, its bases as they are written; None stands for an expression.
        takes: Of a function, the lines of the arguments that can be given by keyword.
        open: Whether it takes or gives names that cannot be told.
    """

    lines: dict[str, list[int]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    bases: list[str | None] | None = None
    takes: dict[str, int] | None = None
    open: bool = False


@dataclass(frozen=True)
class Names:
    """A file.

    Attributes:
        module: Its dotted name.
        scopes: By dotted name of class or function, as a tuple; ``()`` is the module.
        uses: In the order of the text.
        stored: Attributes that it sets on anything.
        asked: Attributes that it asks for by a string.
        texts: Its strings that may be names.
        strings: All its strings, with their lines, where the module makes names up (``__getattr__``).
        ops: Per op that it registers with torch, the lines that do; None among them stands for
            those whose name is worked out.
    """

    module: str
    scopes: dict[Scope, Bound]
    uses: tuple[Use, ...]
    stored: frozenset[str]
    asked: frozenset[str]
    texts: frozenset[str]
    strings: dict[str, list[int]]
    ops: dict[str | None, list[int]]

    @cached_property
    def bare(self) -> frozenset[Use]:
        """What it uses, wherever that stands."""
        return frozenset(map(bare, self.uses))


def bare(use: Use) -> Use:
    """A use, wherever it stands."""
    return Use(0, use.kind, use.module, use.scope, use.name)


def module_of(path: str) -> str:
    """E.g. ``vllm.config`` of ``vllm/config/__init__.py``."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def dotted(node: ast.AST) -> str | None:
    """``a.b.c`` as it is written, subscripts left off; None for anything else."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        above = dotted(node.value)
        return f"{above}.{node.attr}" if above else None
    return None


def seen_from(scopes: dict[Scope, Bound], scope: Scope) -> list[Scope]:
    """The scopes that a name is looked up in, innermost first; no class but the innermost."""
    around = [scope[:end] for end in range(len(scope), -1, -1)]
    return [
        each for each in around if each in scopes and (each == scope or scopes[each].bases is None)
    ]
