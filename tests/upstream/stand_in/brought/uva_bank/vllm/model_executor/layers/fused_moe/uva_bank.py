# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Host rows that a device reads in place, by the names that #57943 gives them.

Written anew, and for machines without an accelerator, where host memory is the device's own.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


class HostBank:
    """Rows in host memory."""

    @staticmethod
    def pin(tensor: "torch.Tensor") -> "torch.Tensor":
        """Give the rows in host memory that stays where it is: the same, where they are there."""
        return tensor.detach().cpu().contiguous()

    @staticmethod
    def as_device_tensor(tensor: "torch.Tensor") -> "torch.Tensor":
        """Give the rows as the device reads them.

        Raises:
            RuntimeError: The device is not the host.
        """
        import torch  # noqa: PLC0415 - upstream's files are read where there is none

        if torch.accelerator.is_available():
            raise RuntimeError("the stand-in has no view for an accelerator")
        return HostBank.pin(tensor)
