# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The modules that are built while a model is loaded, and what they take of a device."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from weakref import WeakSet

import torch
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_parameter_registration_hook,
)


@contextmanager
def building() -> Iterator["WeakSet[torch.nn.Module]"]:
    """List the modules that are given parameters or buffers while the block runs.

    vLLM hands a model out once it is loaded; what it is made of must be known before.
    """
    built: WeakSet[torch.nn.Module] = WeakSet()

    def note(module: torch.nn.Module, _name: str, _tensor: object) -> None:
        built.add(module)

    hooks = (
        register_module_parameter_registration_hook(note),
        register_module_buffer_registration_hook(note),
    )
    try:
        yield built
    finally:
        for each in hooks:
            each.remove()


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


def unpinned_bytes(built: Iterable[torch.nn.Module]) -> int:
    """Sum up the storages of modules' parameters and buffers in host memory, each once.

    Those that torch's pinned allocator gave are left out, for its own figures have them. A mapping that
    was registered with the device says that it is pinned, too, but its storage cannot be resized.

    Args:
        built: That ``building`` listed.

    Returns:
        Bytes. A copy by ``Tensor.pin_memory`` cannot be told from a mapping, and counts.
    """
    found = {}
    for module in built:
        for each in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
            if each.device.type == "cpu":
                storage = each.untyped_storage()
                if not (storage.resizable() and each.is_pinned()):
                    found[storage.data_ptr()] = storage.nbytes()
    return sum(found.values())
