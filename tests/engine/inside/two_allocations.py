"""Checks of the CUDA side's allocations in the CPU's memory; run by ``cuda_glue``.

The device's calls are told: they take a range of addresses and answer with a status.
"""

import ctypes
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from cuda_layers import CPU
from small_banks import ROWS, raised

from expert_bank.allocation import ALIGNED, mapped_bytes, one_allocation
from expert_bank.config import BankConfig
from expert_bank.glue.allocating import cold_file
from expert_bank.host_memory import HostMemory
from expert_bank.pages import page_bytes
from expert_bank.refused import Refused
from expert_bank.two_allocations import TwoAllocations

HOT, COLD = 3, 7
INVALID, OPERATING_SYSTEM, NOT_PERMITTED = 1, 304, 800


@dataclass
class Driver:
    """Registers what it is asked to, or answers with a status.

    Attributes:
        status: Of each registration.
        ranges: What is registered: length by address.
    """

    status: int = 0
    ranges: dict[int, int] = field(default_factory=dict)

    def register(self, address: int, length: int) -> int:
        """Take a range."""
        if not self.status:
            self.ranges[address] = length
        return self.status

    def unregister(self, address: int) -> int:
        """Let a range go."""
        return 0 if self.ranges.pop(address, None) else INVALID


def allocate(driver: Driver) -> TwoAllocations:
    """Make what allocates."""
    return TwoAllocations(CPU, driver.register, driver.unregister)


def hot_rows_are_the_devices_and_cold_ones_one_mapping() -> None:
    """Of exact size, known to the device before anything looks at them, each tensor aligned."""
    driver, seen = Driver(), []

    def view(rows: torch.Tensor) -> torch.Tensor:
        at = rows.data_ptr()
        seen.append(any(a <= at < a + length for a, length in driver.ranges.items()))
        return rows

    memory = HostMemory(view=view)
    made = allocate(driver)
    tensors = made(ROWS, HOT, COLD, memory)
    assert [each.name for each in tensors] == list(ROWS)
    (pages,) = memory.mappings
    assert driver.ranges == {pages.address: pages.size}
    assert len(made.registrations) == 1
    assert seen == [True] * len(ROWS)
    size = sum(-(-each.cold.nbytes // ALIGNED) * ALIGNED for each in tensors)
    assert pages.asked == mapped_bytes(ROWS, COLD) == size
    assert pages.size - size < page_bytes()
    for each, (dtype, shape) in zip(tensors, ROWS.values(), strict=True):
        assert each.whole is None
        assert (each.hot.shape, each.hot.dtype) == ((HOT, *shape), dtype)
        assert (each.cold.shape, each.cold.dtype) == ((COLD, *shape), dtype)
        assert each.cold.data_ptr() % ALIGNED == 0
        assert pages.address <= each.cold.data_ptr() < pages.address + pages.size
        at = each.hot.data_ptr()
        assert at + each.hot.nbytes <= pages.address or at >= pages.address + pages.size


def views_are_of_the_same_pages() -> None:
    """What is written through a row is in the mapping, behind no other tensor's."""
    memory = HostMemory()
    tensors = allocate(Driver())(ROWS, HOT, COLD, memory)
    (pages,) = memory.mappings
    for number, each in enumerate(tensors, start=1):
        each.cold.view(torch.uint8).fill_(number)
    for number, each in enumerate(tensors, start=1):
        held = ctypes.string_at(each.cold.data_ptr(), each.cold.nbytes)
        assert held == bytes([number]) * each.cold.nbytes
    both = one_allocation(ROWS, 0, COLD, HostMemory())
    first = both[0].cold.data_ptr()
    offsets = [each.cold.data_ptr() - pages.address for each in tensors]
    assert offsets == [each.cold.data_ptr() - first for each in both]


def each_layer_has_a_mapping_that_stays() -> None:
    """Two layers, two registrations; a mapping that the device knows is not given back."""
    driver, memory = Driver(), HostMemory()
    made = allocate(driver)
    for _ in range(2):
        made(ROWS, HOT, COLD, memory)
    assert len(driver.ranges) == len(made.registrations) == len(memory.mappings) == 2
    assert raised(BufferError, memory.mappings[0].close)
    for each in made.registrations:
        each.close()
    assert not driver.ranges
    memory.mappings[0].close()


def no_cold_row_is_nothing_to_register() -> None:
    """Where every expert is hot, and nothing is mirrored."""
    driver, memory = Driver(status=INVALID), HostMemory()
    tensors = allocate(driver)(ROWS, HOT, 0, memory)
    assert [each.cold.shape[0] for each in tensors] == [0] * len(ROWS)
    assert memory.mappings == []


def a_registration_that_is_not_permitted_names_the_containers_flags() -> None:
    """Others say what the device answered; nothing stays registered."""
    for status in (NOT_PERMITTED, OPERATING_SYSTEM):
        told = refused(Driver(status))
        assert f": status {status}, with 0 B of" in told
        assert told.endswith("--ulimit memlock=-1 and --cap-add IPC_LOCK")
    told = refused(Driver(INVALID))
    assert "status 1, with 0 B of" in told
    assert "--" not in told


def only_a_cpu_has_cold_rows_in_a_file() -> None:
    """Another device is told by name, before the folder is looked at."""
    asked = BankConfig(
        *("3", "file", "first"), poison=False, read_floor=None, node=None, folder=Path("/absent")
    )
    told = raised(Refused, lambda: cold_file(asked, torch.device("cuda")))
    assert told.startswith(
        "moe_cold_rows file is for the CPU engine: cuda reads cold rows in place"
    )
    assert "\nuse moe_cold_rows mirror, or exclusive where" in told
    assert "/absent takes no file" in raised(Refused, lambda: cold_file(asked, CPU))
    for device in (torch.device("cuda"), CPU):
        assert cold_file(replace(asked, cold_rows="mirror"), device) is None


def refused(driver: Driver) -> str:
    """What is told where a driver does not register; it has nothing then."""
    told = raised(Refused, lambda: allocate(driver)(ROWS, HOT, COLD, HostMemory()))
    assert not driver.ranges
    return told


CHECKS = (
    hot_rows_are_the_devices_and_cold_ones_one_mapping,
    views_are_of_the_same_pages,
    each_layer_has_a_mapping_that_stays,
    no_cold_row_is_nothing_to_register,
    a_registration_that_is_not_permitted_names_the_containers_flags,
    only_a_cpu_has_cold_rows_in_a_file,
)
