"""Ops that Python registers with torch, as vLLM does it or by ``torch.library``."""

import ast
import re
from collections.abc import Iterator

from lanewright.queue.closure.names import dotted

BY = {"direct_register_custom_op", "custom_op", "triton_op", "define"}
NAME = re.compile(r"(?:\w+::)?(\w+)")


def registered(call: ast.Call) -> Iterator[tuple[str | None, int]]:
    """The op that a call registers, if it does that, and the line of its name.

    None stands for a name that is worked out when it runs.
    """
    called = (dotted(call.func) or "").rpartition(".")[2]
    if called not in BY:
        return
    named = [each.value for each in call.keywords if each.arg in {"op_name", "name", "qualname"}]
    first = [*named, *call.args][:1]
    for each in first:
        text = each.value if isinstance(each, ast.Constant) else None
        found = NAME.match(text) if isinstance(text, str) else None
        yield (found[1] if found else None), each.lineno
