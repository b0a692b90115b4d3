"""What an expression of the glue is; whatever it uses of upstream is noted on the way."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.contract.glue import GlueModule
from tests.contract.kinds import (
    PLAIN,
    Kind,
    Many,
    Name,
    OurClass,
    OurMethod,
    Ours,
    Part,
    Row,
    Theirs,
    Unknown,
    Use,
    Values,
    either,
)
from tests.contract.signature import Call, Signature, call_of

if TYPE_CHECKING:
    from tests.contract.reading import Reader

Scope = dict[str, Kind]
SAME = ("list", "tuple", "set", "sorted", "reversed", "iter", "frozenset")
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class Expressions(ABC):
    """The expressions of one scope."""

    def __init__(
        self, reader: "Reader", module: GlueModule, owner: ast.ClassDef | None, scope: Scope
    ) -> None:
        self.reader, self.module, self.owner, self.scope = reader, module, owner, scope
        self.narrowed: Scope = {}

    @abstractmethod
    def within(self, function: ast.Lambda) -> "Expressions":
        """Enter a function."""

    @abstractmethod
    def narrow(self, node: ast.AST) -> None:
        """Believe every ``isinstance`` of a scope."""

    @abstractmethod
    def assign(self, target: ast.expr, kind: Kind, value: ast.expr | None) -> None:
        """Give a target what is assigned to it."""

    def kind(self, node: ast.expr | None) -> Kind:
        """What an expression is; of a form that is not known, its parts are looked at."""
        name = f"_{type(node).__name__.lower()}"
        known: Callable[[ast.AST | None], Kind] = getattr(self, name, self._parts)
        return known(node)

    def use(
        self,
        node: ast.AST,
        holder: str,
        attribute: str = "",
        *,
        call: Call | None = None,
        stands_in: Signature | None = None,
        needed: bool = True,
        results: int = 0,
    ) -> None:
        """Note that upstream is used."""
        where = self.module.where(node)
        used = Use(where, holder, attribute, call, stands_in, needed=needed, results=results)
        self.reader.uses.add(used)

    def settled(self, kind: Kind) -> Kind:
        """What the table says that an attribute of upstream's is."""
        if not isinstance(kind, Part):
            return kind
        found = [self.reader.table.kind(f"{each}.{kind.attribute}") for each in kind.classes]
        return Unknown(kind.text) if None in found else either([each for each in found if each])

    def element(self, kind: Kind) -> Kind:
        """What iterating over it gives."""
        kind = self.settled(kind)
        if isinstance(kind, Many):
            return kind.of
        if isinstance(kind, Row):
            return either(list(kind.of))
        return kind if isinstance(kind, Unknown) else PLAIN

    def attribute_of(self, holder: Kind, name: str, node: ast.expr, *, needed: bool = True) -> Kind:
        """What an attribute is, by what has it."""
        # Python's own, which everything has.
        holder = holder if name == "__init__" or not name.startswith("__") else PLAIN
        match holder:
            case Unknown():
                self.reader.unknown.add(f"{self.module.where(node)}: {holder.text}.{name}")
            case Theirs():
                for each in holder.classes:
                    self.use(node, each, name, needed=needed)
                return Part(holder.classes, name, ast.unparse(node), asked=not needed)
            case Name():
                return self._member(holder, name, node)
            case Ours():
                own = self.reader.attribute_of_ours(holder.name, name)
                above = self.reader.glue.upstream(holder.name)
                if own is None and above:
                    return self.attribute_of(Theirs(above), name, node, needed=needed)
                return own or PLAIN
            case Values():
                given = {"values": Many(holder.of), "items": Many(Row((PLAIN, holder.of)))}
                return given.get(name, PLAIN)
        return PLAIN

    def _member(self, holder: Name, name: str, node: ast.expr) -> Kind:
        """What a class or a module of upstream has under a name."""
        if self.reader.table.kind(holder.path) is not None:
            return PLAIN
        if holder.path.rpartition(":")[2][:1].islower():
            path = f"{holder.path.replace(':', '.')}:{name}"
            self.use(node, path)
            return Name(path)
        self.use(node, holder.path, name)
        return Part((holder.path,), name, ast.unparse(node))

    def _parts(self, node: ast.AST | None) -> Kind:
        for child in ast.iter_child_nodes(node) if node is not None else ():
            if isinstance(child, ast.expr):
                self.kind(child)
        return PLAIN

    def _name(self, node: ast.Name) -> Kind:
        return self.scope.get(node.id, PLAIN)

    def _attribute(self, node: ast.Attribute) -> Kind:
        return self.attribute_of(self.settled(self.kind(node.value)), node.attr, node)

    def _starred(self, node: ast.Starred) -> Kind:
        return self.kind(node.value)

    _await = _yieldfrom = _starred

    def _lambda(self, node: ast.Lambda) -> Kind:
        self.within(node).kind(node.body)
        return PLAIN

    def _namedexpr(self, node: ast.NamedExpr) -> Kind:
        kind = self.kind(node.value)
        self.assign(node.target, kind, None)
        return kind

    def _subscript(self, node: ast.Subscript) -> Kind:
        held = self.settled(self.kind(node.value))
        self.kind(node.slice)
        if isinstance(held, Values):
            return held.of
        if isinstance(held, Many):
            return held if isinstance(node.slice, ast.Slice) else held.of
        return held if isinstance(held, Unknown) else PLAIN

    def _ifexp(self, node: ast.IfExp) -> Kind:
        self.kind(node.test)
        return either([self.kind(node.body), self.kind(node.orelse)])

    def _boolop(self, node: ast.BoolOp) -> Kind:
        return either([self.kind(each) for each in node.values])

    def _tuple(self, node: ast.Tuple) -> Kind:
        return Row(tuple(self.kind(each) for each in node.elts))

    def _list(self, node: ast.List | ast.Set) -> Kind:
        return Many(either([self.kind(each) for each in node.elts]))

    _set = _list

    def _listcomp(self, node: Comprehension) -> Kind:
        before, narrowed = dict(self.scope), dict(self.narrowed)
        self.narrow(node)
        for each in node.generators:
            self.assign(each.target, self.element(self.kind(each.iter)), None)
            for condition in each.ifs:
                self.kind(condition)
        if isinstance(node, ast.DictComp):
            self.kind(node.key)
            found: Kind = Values(self.kind(node.value))
        else:
            found = Many(self.kind(node.elt))
        self.scope, self.narrowed = before, narrowed
        return found

    _setcomp = _generatorexp = _dictcomp = _listcomp

    def _call(self, node: ast.Call) -> Kind:
        if ast.unparse(node.func) == "super" and self.owner is not None:
            return Theirs(self.reader.glue.upstream(self.owner.name))
        given = [self.kind(each) for each in node.args]
        for keyword in node.keywords:
            self.kind(keyword.value)
        if isinstance(node.func, ast.Name) and node.func.id not in self.scope:
            return self._builtin(node, node.func.id, given)
        return self._called(node, self.kind(node.func))

    def _called(self, node: ast.Call, function: Kind) -> Kind:
        match function:
            case Name(path):
                self.use(node, path, call=self._passed(node, path))
                if path.rpartition(":")[2].lstrip("_")[:1].isupper():
                    return Theirs((path,))
                return self.reader.table.kind(path) or Unknown(ast.unparse(node.func) + "()")
            case Part():
                for each in function.classes:
                    call = self._passed(node, f"{each}.{function.attribute}")
                    needed = not function.asked
                    self.use(node, each, function.attribute, call=call, needed=needed)
                return replace(function, text=f"{function.text}()")
            case OurClass():
                return Ours(function.name)
            case OurMethod():
                definition = self.reader.glue.classes[function.owner]
                returns = definition.methods[function.name].returns
                return definition.module.annotated(returns, ast.unparse(node.func), {})
        return function if isinstance(function, (Many, Unknown)) else PLAIN

    def _passed(self, node: ast.Call, key: str) -> Call:
        """What a call passes, with what ``**`` takes from where the table says."""
        call = call_of(node)
        source = self.reader.table.spread.get(key)
        if call.whole or source is None:
            return call
        return Call(call.positional, call.keywords | self.reader.glue.keys_returned(source))

    def _builtin(self, node: ast.Call, name: str, given: list[Kind]) -> Kind:
        if name in {"getattr", "hasattr"} and isinstance(node.args[1], ast.Constant):
            asked = name == "hasattr" or len(node.args) == len(("object", "name", "default"))
            holder, attribute = self.settled(given[0]), str(node.args[1].value)
            found = self.attribute_of(holder, attribute, node, needed=not asked)
            return PLAIN if name == "hasattr" else found
        if name == "zip":
            return Many(Row(tuple(self.element(each) for each in given)))
        if name == "enumerate":
            return Many(Row((PLAIN, self.element(given[0]))))
        if name in SAME and given:
            return self.settled(given[0])
        return self.element(given[0]) if name == "next" and given else PLAIN
