"""Whether a tree registers an op of torch's that one of its files calls."""

from lanewright.queue.closure.names import Use
from lanewright.queue.closure.view import View, word

# Namespaces of ops that C++ or CUDA binds.
COMPILED = "torch.ops._"


def has_op(view: View, path: str, use: Use) -> bool | None:
    """Whether some file registers it; None where that cannot be told, or C++ or CUDA binds it."""
    user = view.names(path)
    if use.module.startswith(COMPILED) or (user and use.name in user.asked):
        return None
    said = [names.ops for _, names in view.mentioning(word(use.name))]
    if any(use.name in ops for ops in said):
        return True
    return None if any(None in ops for ops in said) else False


def op_lines(view: View, use: Use) -> tuple[str, list[int]]:
    """The file that registers it, and on which lines."""
    by = view.mentioning(word(use.name))
    found = ((path, names.ops[use.name]) for path, names in by if use.name in names.ops)
    return next(found, ("", []))
