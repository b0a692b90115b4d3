"""Whether a class has an attribute: its own, of a class that it is made of, or set from outside."""

from lanewright.queue.closure.names import MODULE, Names, Scope
from lanewright.queue.closure.view import View

# Bases that give a class no name which a pull request would define anew.
PLAIN = {"object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum"}
OF_ENUM = {"name", "value"}
TORCH = {"Module", "nn.Module", "torch.nn.Module"}
OF_TORCH = frozenset(
    [
        "_apply",
        "_buffers",
        "_call_impl",
        "_get_name",
        "_load_from_state_dict",
        "_modules",
        "_named_members",
        "_parameters",
        "_save_to_state_dict",
        "add_module",
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
        "register_backward_hook",
        "register_buffer",
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
        "register_load_state_dict_post_hook",
        "register_load_state_dict_pre_hook",
        "register_module",
        "register_parameter",
        "register_state_dict_post_hook",
        "register_state_dict_pre_hook",
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


def of_class(
    view: View, names: Names, scope: Scope, name: str, known: frozenset[tuple[str, Scope]]
) -> bool | None:
    """Whether a class, what it inherits from or what inherits from it has an attribute."""
    found = names.scopes[scope]
    if name in found.lines:
        return True
    may_be_given = found.open or name in names.texts or name.startswith("__")
    if found.bases is None or may_be_given:
        return None
    above = [
        _of_base(view, names, base, name, known | {(names.module, scope)}) for base in found.bases
    ]
    if any(each is not False for each in above):
        return True if True in above else None
    return None if not known and _given_elsewhere(view, scope[-1], name) else False


def _of_base(
    view: View, names: Names, base: str | None, name: str, known: frozenset[tuple[str, Scope]]
) -> bool | None:
    if base is None:
        return None
    if base.rpartition(".")[2] in PLAIN:
        return None if name in OF_ENUM else False
    if base in TORCH:
        return None if name in OF_TORCH else False
    found = _class_of(view, names, base)
    if found is None or (found[0].module, found[1]) in known:
        return None
    return of_class(view, *found, name, known)


def _class_of(view: View, names: Names, base: str) -> tuple[Names, Scope] | None:
    """A base as it is written: the file that defines it, and its scope there."""
    there, scope = names, (base,)
    if (base,) not in names.scopes:
        module, original = names.scopes[MODULE].imports.get(base, ("", ""))
        other = view.module(module)
        if not original or other is None:
            return None
        there, scope = other, (original,)
    return (there, scope) if scope in there.scopes else None


def giver_of(view: View, names: Names, scope: Scope, name: str) -> tuple[Names, Scope]:
    """The class that gives an attribute to one: the first of those that it inherits from, or it."""
    seen: list[tuple[Names, Scope]] = []
    todo = [(names, scope)]
    while todo:
        each = todo.pop(0)
        bound = each[0].scopes[each[1]]
        if name in bound.lines:
            return each
        seen.append(each)
        above = (_class_of(view, each[0], base) for base in bound.bases or () if base)
        todo = [found for found in above if found and found not in seen] + todo
    return names, scope


def _given_elsewhere(view: View, owner: str, name: str) -> bool:
    """Whether a changed file sets the attribute on something, or a subclass has it."""
    for names in filter(None, map(view.names, view.changed)):
        if name in names.stored or name in names.texts:
            return True
        below = [
            each
            for each in names.scopes.values()
            if owner in [(base or "").rpartition(".")[2] for base in each.bases or ()]
        ]
        if any(name in each.lines for each in below):
            return True
    return False
