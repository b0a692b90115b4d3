"""What is told of host memory that was filled: which part of it was proven."""

import os
from pathlib import Path

import pytest

from expert_bank.host_memory import HostMemory
from expert_bank.pages import page_bytes
from expert_bank.probe import host_reader
from expert_bank.refused import Refused
from tests.expert_bank.machines import node, written

MAPS = "proc/self/numa_maps"
# All CPUs that this process may have.
ONE = node(0, "0-4095", 11)


def proven(root: Path, machine: dict[str, str], maps: str | None) -> str:
    """Fill two mappings of ours on a machine as its kernel tells it; what is told of them.

    Args:
        root: To write the machine below; its ``smaps`` are this process's.
        machine: Its nodes.
        maps: Which node its ``numa_maps`` has the pages on; None where it cannot be read.
    """
    written(root, {**machine, "proc/self/status": ""})
    (root / "proc/self/smaps").symlink_to("/proc/self/smaps")
    memory = HostMemory(root=root)
    for pages in (3, 40):
        mapping = memory.map(pages * page_bytes())
        mapping.view()[:] = b"x" * mapping.asked
    if maps is not None:
        lines = [
            f"{each.address:x} default anon=1 {maps}={each.size // page_bytes()}\n"
            for each in memory.mappings
        ]
        written(root, {MAPS: "".join(lines)})
    (told,) = memory.prove(host_reader(40 * page_bytes()), floor=None)
    return told


def test_a_place_that_was_read_is_told_as_such(tmp_path: Path) -> None:
    told = proven(tmp_path, ONE, "N0")
    assert " in memory, all on node 0; read at " in told


def test_a_place_that_nobody_could_read_is_told_as_assumed(tmp_path: Path) -> None:
    told = proven(tmp_path, ONE, None)
    assert (
        " in memory, on node 0, the only one with memory"
        " (not proven: /proc/self/numa_maps cannot be read); read at "
    ) in told
    assert "all on" not in told


def test_a_machine_without_nodes_has_no_place_to_tell(tmp_path: Path) -> None:
    told = proven(tmp_path, {}, None)
    assert " on a machine without nodes (/sys/devices/system/node lists none); read at " in told


def test_each_layer_is_held_against_its_own_arithmetic(tmp_path: Path) -> None:
    written(tmp_path, {"proc/self/status": ""})
    smaps = tmp_path / "proc/self/smaps"
    smaps.symlink_to("/proc/self/smaps")
    memory = HostMemory(root=tmp_path)
    for name, pages in (("layers.0", 300), ("layers.1", 200), ("layers.2", 100)):
        with memory.of_layer(name, pages * page_bytes()):
            mapping = memory.map(pages * page_bytes())
        mapping.view()[:] = b"x" * mapping.asked
    read = host_reader(300 * page_bytes())
    (told,) = memory.prove(read, floor=None)
    assert "each of 3 layers' within 0.00% of its arithmetic; read at" in told
    # 4 pages of 600 are within a hundredth, and of the last layer's 100 are not.
    short = os.sysconf("SC_PAGE_SIZE") // 1024 * 4
    text = Path("/proc/self/smaps").read_text()
    head, _, rest = text.partition(f"{mapping.address:x}-")
    body, rss, tail = rest.partition("Rss:")
    size, unit, more = tail.partition(" kB")
    smaps.unlink()
    less = int(size) - short
    smaps.write_text(f"{head}{mapping.address:x}-{body}{rss}{less:>16}{unit}{more}")
    with pytest.raises(
        Refused, match=r"layers\.2: host memory: .* by arithmetic, but .* in memory"
    ):
        memory.prove(read, floor=None)


@pytest.mark.parametrize(
    ("rows", "mapped", "fault"),
    [
        # A power of two above; a row more than there are; rows that were never mapped.
        (300, 512, "mapped .1.707 of it. and .* in memory .1.707 of it."),
        (300, 308, "mapped .1.027 of it."),
        (300, 290, "mapped .0.967 of it."),
        (0, 300, "0 B by arithmetic, but .* mapped"),
        # Whole pages are no fault, however small the layer.
        (0.5, 1, ""),
        (300, 303, ""),
    ],
)
def test_memory_that_is_not_as_large_as_the_rows_is_refused(
    tmp_path: Path, rows: float, mapped: int, fault: str
) -> None:
    """All of it is there and filled: only the rows' own bytes tell that it is not what it must be."""
    written(tmp_path, {"proc/self/status": ""})
    (tmp_path / "proc/self/smaps").symlink_to("/proc/self/smaps")
    memory, page = HostMemory(root=tmp_path), page_bytes()
    with memory.of_layer("layers.0", int(rows * page)):
        mapping = memory.map(mapped * page)
    mapping.view()[:] = b"x" * mapping.asked
    read = host_reader(mapped * page)
    if fault:
        with pytest.raises(Refused, match=rf"layers\.0: host memory: .*{fault}"):
            memory.prove(read, floor=None)
    else:
        assert "of its arithmetic" in memory.prove(read, floor=None)[0]


def test_pages_elsewhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="must be on node 0, but node 1: "):
        proven(tmp_path, {**ONE, **node(1, "", 0)}, "N1")
