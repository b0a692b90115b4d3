"""Whether a tree of Python files defines what one of them uses."""

import builtins
from dataclasses import replace

from lanewright.queue.closure.inherited import giver_of, of_class
from lanewright.queue.closure.names import MODULE, Names, Scope, Use, seen_from
from lanewright.queue.closure.ops import has_op, op_lines
from lanewright.queue.closure.view import View, files_of

ALWAYS = {*dir(builtins), "__file__", "__path__", "__class__", "__module__", "__qualname__"}


def defines(view: View, path: str, use: Use) -> bool | None:
    """Whether a tree defines what a file of it uses; None where it cannot be told."""
    if use.kind == "op":
        return has_op(view, path, use)
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
    return of_class(view, names, use.scope, use.name, frozenset())


def lines_of(view: View, use: Use, path: str) -> tuple[str, list[int]]:
    """Where a tree that defines a name does so: the file, and lines; none for the whole file."""
    return op_lines(view, use) if use.kind == "op" else _lines_of(view, use, path)


def _lines_of(view: View, use: Use, path: str) -> tuple[str, list[int]]:
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
    if use.kind == "attribute":
        names, scope = giver_of(view, names, scope, use.name)
        where = next(p for p in (*files_of(names.module), path) if view.names(p) is names)
    found = names.scopes[scope]
    if use.kind == "keyword":
        init = names.scopes.get((*scope, "__init__"), found)
        line = (init.takes or {}).get(use.name)
        return where, [line] if line else found.lines.get(use.name, [])
    return where, found.lines.get(use.name, [])


def _bound(names: Names | None, name: str) -> list[int]:
    """The lines of a module that give it a name, if more does than an import from itself."""
    if names is None:
        return []
    lines = names.scopes[MODULE].lines.get(name, [])
    only_itself = names.scopes[MODULE].imports.get(name) == (names.module, name) and len(lines) == 1
    return names.strings.get(name, []) if only_itself else lines or names.strings.get(name, [])


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
    return inner if use.module and not bound and view.has(inner) else ""


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
