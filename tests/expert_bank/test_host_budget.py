"""A bank is refused before memory is taken, with every term."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.host_budget import HostBudget, host_budget, require_host_memory
from expert_bank.refused import Refused
from tests.expert_bank.machines import GIB, GRACE, written

MIRROR = int(268.8 * GIB)
GROUP = {
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "sys/fs/cgroup/memory.max": f"{300 * GIB}\n",
    "sys/fs/cgroup/memory.current": f"{40 * GIB}\n",
    "sys/fs/cgroup/memory.stat": f"inactive_file {8 * GIB}\n",
}


def test_a_mirror_fits_a_grace_machine(tmp_path: Path) -> None:
    found = require_host_memory(MIRROR, reserve=8 * GIB, node=0, root=written(tmp_path, GRACE))
    assert found.lines() == [
        "the machine: 530.00 GiB MemAvailable - 8.00 GiB reserve - 268.80 GiB asked = 253.20 GiB",
        "node 0: 380.00 GiB free + 60.00 GiB file cache - 8.00 GiB reserve - 268.80 GiB asked = 163.20 GiB",
    ]
    assert found.left == 440 * GIB - 8 * GIB - MIRROR


def test_device_memory_does_not_count_for_a_bound_bank(tmp_path: Path) -> None:
    root = written(tmp_path, GRACE)
    require_host_memory(500 * GIB, reserve=8 * GIB, root=root)
    with pytest.raises(Refused, match=r"node 0: .* = -68\.00 GiB\n.*free 68\.00 GiB"):
        require_host_memory(500 * GIB, reserve=8 * GIB, node=0, root=root)


def test_a_containers_limit_is_told_term_by_term(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        require_host_memory(MIRROR, reserve=8 * GIB, root=written(tmp_path, {**GRACE, **GROUP}))
    assert str(refused.value).splitlines() == [
        "the host bank does not fit into host memory",
        "the machine: 530.00 GiB MemAvailable - 8.00 GiB reserve - 268.80 GiB asked = 253.20 GiB",
        "/sys/fs/cgroup/memory.max: 300.00 GiB limit - 40.00 GiB used + 8.00 GiB file cache - 8.00 GiB reserve - 268.80 GiB asked = -8.80 GiB",
        "free 8.80 GiB, make more rows hot, or keep no mirror of them",
    ]


@pytest.mark.parametrize("text", ["", "MemFree: 5 kB\n", "MemAvailable: many kB\n"])
def test_a_kernel_that_does_not_tell_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Refused, match="no MemAvailable"):
        host_budget(1, reserve=0, root=written(tmp_path, {"proc/meminfo": text}))


def test_a_node_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="memory node 9 has left"):
        host_budget(1, reserve=0, node=9, root=written(tmp_path, GRACE))


@given(st.integers(0, 2**50), st.integers(0, 2**50), st.integers(0, 2**50), st.integers(0, 2**50))
def test_the_tightest_place_decides(asked: int, reserve: int, first: int, second: int) -> None:
    found = HostBudget(asked, reserve, (("a", (("x", first),)), ("b", (("y", second),))))
    assert found.left == min(first, second) - reserve - asked


def test_the_edge_is_a_byte(tmp_path: Path) -> None:
    root = written(tmp_path, {"proc/meminfo": "MemAvailable: 100 kB\n"})
    assert require_host_memory(90 * 1024, reserve=10 * 1024, root=root).left == 0
    with pytest.raises(Refused, match="= -1 B"):
        require_host_memory(90 * 1024 + 1, reserve=10 * 1024, root=root)


def test_this_machine_has_some_memory_but_not_any() -> None:
    assert require_host_memory(4096, reserve=0).left > 0
    with pytest.raises(Refused):
        require_host_memory(2**60, reserve=0)
