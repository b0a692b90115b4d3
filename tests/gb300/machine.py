"""Whether this is a GB300, by CUDA's driver alone: no context is made, and no memory taken."""

import ctypes
from dataclasses import dataclass

LIBRARY = "libcuda.so.1"
NAME = "GB300"
# CUdevice_attribute, of cuda.h.
MAJOR, MINOR, HOSTS_PAGE_TABLES = 75, 76, 100
CAPABILITY = (10, 3)


@dataclass(frozen=True)
class Device:
    """The first device of this machine.

    Attributes:
        name: As its driver has it.
        capability: Its compute capability.
        unified: Whether it reads all host memory by the host's own page tables: over C2C, not PCIe.
    """

    name: str
    capability: tuple[int, int]
    unified: bool


def missing() -> str:
    """What this machine lacks; empty where it is a GB300."""
    try:
        device = first_device()
    except OSError as error:
        return f"needs a GB300, and there is no CUDA device here: {error}"
    if NAME not in device.name or device.capability != CAPABILITY or not device.unified:
        return f"needs a GB300, and this is a {device}"
    return ""


def first_device() -> Device:
    """Ask the driver.

    Raises:
        OSError: There is none, or it has no device.
    """
    cuda = ctypes.CDLL(LIBRARY)
    handle, name, value = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_int()

    def asked(what: str, *given: object) -> None:
        if status := getattr(cuda, what)(*given):
            raise OSError(f"{what} ended with {status}")

    def attribute(which: int) -> int:
        asked("cuDeviceGetAttribute", ctypes.byref(value), which, handle)
        return value.value

    asked("cuInit", 0)
    asked("cuDeviceGet", ctypes.byref(handle), 0)
    asked("cuDeviceGetName", name, len(name), handle)
    return Device(
        name=name.value.decode(errors="replace"),
        capability=(attribute(MAJOR), attribute(MINOR)),
        unified=bool(attribute(HOSTS_PAGE_TABLES)),
    )
