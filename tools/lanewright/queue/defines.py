"""Whether a tree of Python files defines what one of them uses."""

import builtins
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property

from lanewright.queue.names import MODULE, Names, Scope, Use, seen_from
from lanewright.queue.reader import names_of
from lanewright.store.objects import folders

ALWAYS = {*dir(builtins), "__file__", "__path__", "__class__", "__module__", "__qualname__"}
# Bases that give a class no name which a pull request would define anew.
PLAIN = {"object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum"}
TORCH = {"Module", "nn.Module", "torch.nn.Module"}
OF_TORCH = frozenset(
    [
        "apply",
        "bfloat16",
        "buffers",
        "call_super_init",
        "children",
        "compile",
        "cpu",
        "cuda",
        "double",
        "dump_patches",
        "eval",
        "extra_repr",
        "float",
        "forward",
        "get_buffer",
        "get_extra_state",
        "get_parameter",
        "get_submodule",
        "half",
        "ipu",
        "load_state_dict",
        "modules",
        "mtia",
        "named_buffers",
        "named_children",
        "named_modules",
        "named_parameters",
        "parameters",
        "register_buffer",
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_module",
        "register_parameter",
        "requires_grad_",
        "set_extra_state",
        "set_submodule",
        "share_memory",
        "state_dict",
        "to",
        "to_empty",
        "train",
        "training",
        "type",
        "xpu",
        "zero_grad",
    ]
)


@dataclass(frozen=True)
class View:
    """Files as one tree has them.

    Attributes:
        paths: All of them.
        read: Gives the content of one.
        changed: Those in which a class may get what it lacks: a subclass, or who sets it.
    """

    paths: Collection[str]
    read: Callable[[str], bytes]
    changed: Collection[str] = ()

    def names(self, path: str) -> Names | None:
        """What a file binds and uses; None where it is not there or no Python."""
        if path not in self._known:
            is_python = path in self.paths and path.endswith(".py")
            self._known[path] = names_of(path, self.read(path)) if is_python else None
        return self._known[path]

    def module(self, name: str) -> Names | None:
        """The file that a module is."""
        return next(filter(None, map(self.names, files_of(name))), None)

    def has(self, module: str) -> bool:
        """Whether there is such a module or package, be it without ``__init__``."""
        return self.module(module) is not None or module.replace(".", "/") in self._folders

    @cached_property
    def _known(self) -> dict[str, Names | None]:
        return {}

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.paths for folder in folders(path))


def files_of(module: str) -> tuple[str, str]:
    """The two files that a module can be."""
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def defines(view: View, path: str, use: Use) -> bool | None:
    """Whether a tree defines what a file of it uses; None where it cannot be told."""
    if use.kind == "op":
        return None
    if use.kind == "import":
        return _in_module(view, use.module, use.name)
    names = view.module(use.module) if use.module else view.names(path)
    if use.kind == "name":
        return _seen(names, use) if names else None
    if use.kind == "attribute" and (module := _as_module(view, use, names)):
        return _in_module(view, module, use.name) if view.has(module) else None
    return _in_scope(view, path, use, names) if names else None


def _in_scope(view: View, path: str, use: Use, names: Names) -> bool | None:
    """Whether a class has an attribute, or a class or function takes an argument."""
    if use.scope not in names.scopes:
        moved = _imported(view, names, use.scope)
        return defines(view, path, replace(use, module=moved[0], scope=moved[1])) if moved else None
    if use.kind == "keyword":
        return _takes(names, use.scope, use.name)
    return _of_class(view, names, use.scope, use.name, frozenset())


def lines_of(view: View, use: Use, path: str) -> tuple[str, list[int]]:
    """Where a tree that defines a name does so: the file, and lines; none for the whole file."""
    module, scope = use.module, use.scope
    if use.kind == "attribute" and (as_module := _as_module(view, use, view.module(module))):
        module, scope = as_module, MODULE
    elif use.kind == "import" and use.name and not _bound(view.module(module), use.name):
        module = f"{module}.{use.name}"
    names = view.module(module) if module else view.names(path)
    if names is None:
        return "", []
    where = next(p for p in (*files_of(names.module), path) if view.names(p) is names)
    if use.kind == "import" or not scope:
        return where, _bound(names, use.name)
    if use.kind == "name":
        lines = (names.scopes[s].lines.get(use.name) for s in seen_from(names.scopes, scope))
        return where, next(filter(None, lines), [])
    if scope not in names.scopes:
        moved = _imported(view, names, scope)
        return (
            lines_of(view, replace(use, module=moved[0], scope=moved[1]), path)
            if moved
            else ("", [])
        )
    found = names.scopes[scope]
    if use.kind == "keyword":
        init = names.scopes.get((*scope, "__init__"), found)
        line = (init.takes or {}).get(use.name)
        return where, [line] if line else found.lines.get(use.name, [])
    return where, found.lines.get(use.name, [])


def _bound(names: Names | None, name: str) -> list[int]:
    return names.scopes[MODULE].lines.get(name) or names.strings.get(name, []) if names else []


def _in_module(view: View, module: str, name: str) -> bool | None:
    if not view.has(module):
        return False
    if not name or view.has(f"{module}.{name}"):
        return True
    names = view.module(module)
    if names is None:
        return False  # a folder without `__init__`
    return bool(_bound(names, name)) or (None if names.scopes[MODULE].open else False)


def _as_module(view: View, use: Use, names: Names | None) -> str:
    """The module that an attribute is of, if it is of one."""
    if use.module and not use.scope:
        return use.module
    inner = f"{use.module}.{'.'.join(use.scope)}"
    bound = names is not None and names.scopes[MODULE].lines.get(use.scope[0])
    return inner if use.module and not bound and view.module(inner) else ""


def _seen(names: Names, use: Use) -> bool | None:
    around = [names.scopes[scope] for scope in seen_from(names.scopes, use.scope)]
    if use.name in ALWAYS or any(use.name in bound.lines for bound in around):
        return True
    return None if names.scopes[MODULE].open else False


def _imported(view: View, names: Names, scope: Scope) -> tuple[str, Scope] | None:
    """Where a class or function is that a module has from another one."""
    module, name = names.scopes[MODULE].imports.get(scope[0], ("", ""))
    other = view.module(module) if name and module != names.module else None
    return (module, (name, *scope[1:])) if other and (name,) in other.scopes else None


def _takes(names: Names, scope: Scope, keyword: str) -> bool | None:
    found = names.scopes[scope]
    if found.bases is None:
        return None if found.open or found.takes is None else keyword in found.takes
    init = names.scopes.get((*scope, "__init__"))
    if init:
        return None if init.open else keyword in (init.takes or {})
    if keyword in found.lines:
        return True  # as a field, where nothing says how else
    return None if found.bases else False


def _of_class(
    view: View, names: Names, scope: Scope, name: str, known: frozenset[tuple[str, Scope]]
) -> bool | None:
    """Whether a class, what it inherits from or what inherits from it has an attribute."""
    found = names.scopes[scope]
    if name in found.lines:
        return True
    if found.bases is None or found.open or name.startswith("__"):
        return None
    above = [
        _of_base(view, names, base, name, known | {(names.module, scope)}) for base in found.bases
    ]
    if any(each is not False for each in above):
        return None
    return None if not known and _given_elsewhere(view, scope[-1], name) else False


def _of_base(
    view: View, names: Names, base: str | None, name: str, known: frozenset[tuple[str, Scope]]
) -> bool | None:
    if base is None:
        return None
    if base.rpartition(".")[2] in PLAIN:
        return False
    if base in TORCH:
        return None if name in OF_TORCH else False
    first = base.split(".")[0]
    there, scope = names, (base,)
    if (base,) not in names.scopes:
        module, original = names.scopes[MODULE].imports.get(first, ("", ""))
        other = view.module(module)
        if not original or base != first or other is None:
            return None
        there, scope = other, (original,)
    if scope not in there.scopes or (there.module, scope) in known:
        return None
    return _of_class(view, there, scope, name, known)


def _given_elsewhere(view: View, owner: str, name: str) -> bool:
    """Whether a changed file sets the attribute on something, or a subclass has it."""
    for names in filter(None, map(view.names, view.changed)):
        if name in names.stored or name in names.asked:
            return True
        below = [
            each
            for each in names.scopes.values()
            if owner in [(base or "").rpartition(".")[2] for base in each.bases or ()]
        ]
        if any(name in each.lines for each in below):
            return True
    return False
