"""Is the hardware here that a lane needs."""

from pathlib import Path

from lanewright.errors import HardwareError
from lanewright.project import Device

CUDA_CONTROL = Path("/dev/nvidiactl")


def require_hardware(lane: str, device: Device) -> None:
    """Check that this machine has the device of a lane.

    Raises:
        HardwareError: It has not; such a lane counts as not run, never as passed.
    """
    if device == "cuda" and not CUDA_CONTROL.exists():
        raise HardwareError(
            f"lane {lane} runs on a CUDA device, and this machine has none ({CUDA_CONTROL})",
            hint=f"boot it where there is one; what can be done here: lanewright status {lane}",
        )
