# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Host rows of vllm #57943: pinned rows with a device view.

The memory is mapped by us: torch's pinned memory, which #57943 takes where rows are not pinned yet,
rounds a block up to a power of two (vllm #58178). Ours is registered before, so that its pages are
taken as they are; that they are is checked for every tensor.
"""

from collections.abc import Callable

import torch

from expert_bank.glue.seams.kinds import MakeHostRows
from expert_bank.glue.seams.symbols import Symbols
from expert_bank.host_memory import HostMemory
from expert_bank.refused import Refused
from expert_bank.seams import Used
from expert_bank.sizes import told

MODULE = "vllm.model_executor.layers.fused_moe.uva_bank"
KNOWN = "#57943's uva_bank.py as of vllm commit 68bb3c0919aa"


def host_rows(used: Used) -> MakeHostRows:
    """Have their bank pin our mappings, and give the view that the device reads."""
    theirs = Symbols(used, MODULE, KNOWN)
    pin = theirs.function("HostBank.pin", "tensor")
    view = used.counted(theirs.function("HostBank.as_device_tensor", "tensor"))
    who = f"{used.seam} from #{used.source}"

    def asked(call: Callable[[torch.Tensor], torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
        try:
            return call(rows)
        except (RuntimeError, ValueError) as error:
            raise Refused(
                f"{who}: HostBank does not take rows in host memory here: {error}",
                hint="where there is no accelerator, use our own HostRows",
            ) from error

    def seen(rows: torch.Tensor) -> torch.Tensor:
        taken = asked(pin, rows)
        if taken.data_ptr() != rows.data_ptr():
            raise Refused(f"{who}: HostBank.pin copied {told(rows.nbytes)} that were mapped for it")
        found = asked(view, taken)
        if (found.shape, found.dtype) != (rows.shape, rows.dtype):
            raise Refused(
                f"{who}: HostBank.as_device_tensor gave {found.dtype}{list(found.shape)} for"
                f" {rows.dtype}{list(rows.shape)}"
            )
        return found

    def make(_device: torch.device, node: int | None) -> HostMemory:
        return HostMemory(wanted=node, view=seen)

    return make
