# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The modules that are built while a model is loaded, and what they take of a device."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from weakref import WeakSet

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook


@contextmanager
def building() -> Iterator["WeakSet[torch.nn.Module]"]:
    """List the modules that are given parameters while the block runs.

    vLLM hands a model out once it is loaded; what it is made of must be known before.
    """
    built: WeakSet[torch.nn.Module] = WeakSet()

    def note(module: torch.nn.Module, _name: str, _parameter: object) -> None:
        built.add(module)

    hook = register_module_parameter_registration_hook(note)
    try:
        yield built
    finally:
        hook.remove()


def other_weights(built: Iterable[torch.nn.Module], device: torch.device) -> int:
    """Sum up the parameters of modules, each once.

    Those of the experts are on no device yet; a draft model's are built later, and in no plan.

    Args:
        built: That ``building`` listed.
        device: Of the parameters that count.

    Returns:
        Bytes.
    """
    found = {
        id(each): each.nbytes
        for module in built
        for each in module.parameters(recurse=False)
        if each.device.type == device.type
    }
    return sum(found.values())
