"""What is left for a bank is told term by term, before memory is taken."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.host_budget import HostBudget, host_budget
from expert_bank.refused import Refused
from tests.expert_bank.machines import GIB, GRACE, written

GROUP = {
    "proc/self/cgroup": "0::/\n",
    "proc/self/mountinfo": "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "sys/fs/cgroup/memory.max": f"{300 * GIB}\n",
    "sys/fs/cgroup/memory.current": f"{40 * GIB}\n",
    "sys/fs/cgroup/memory.stat": f"inactive_file {8 * GIB}\n",
}


def test_a_grace_machine_has_its_nodes_memory(tmp_path: Path) -> None:
    root = written(tmp_path, GRACE)
    found = host_budget(node=0, root=root)
    assert found.lines() == [
        "the machine: 530.00 GiB MemAvailable = 530.00 GiB",
        "node 0: 380.00 GiB free + 60.00 GiB file cache = 440.00 GiB",
    ]
    # The machine's figure has the device's memory in it.
    assert found.left == 440 * GIB < host_budget(root=root).left


def test_a_containers_limit_is_told_term_by_term(tmp_path: Path) -> None:
    found = host_budget(root=written(tmp_path, {**GRACE, **GROUP}))
    assert found.lines() == [
        "the machine: 530.00 GiB MemAvailable = 530.00 GiB",
        "/sys/fs/cgroup/memory.max: 300.00 GiB limit - 40.00 GiB used + 8.00 GiB file cache = 268.00 GiB",
    ]
    assert found.left == 268 * GIB


@pytest.mark.parametrize("text", ["", "MemFree: 5 kB\n", "MemAvailable: many kB\n"])
def test_a_kernel_that_does_not_tell_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(Refused, match="no MemAvailable"):
        host_budget(root=written(tmp_path, {"proc/meminfo": text}))


def test_a_node_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="memory node 9 has left"):
        host_budget(node=9, root=written(tmp_path, GRACE))


@given(st.integers(0, 2**50), st.integers(0, 2**50), st.integers(0, 2**50))
def test_the_tightest_place_decides(first: int, second: int, used: int) -> None:
    found = HostBudget((("a", (("x", first),)), ("b", (("y", second), ("z", -used)))))
    assert found.left == min(first, second - used)


def test_this_machine_has_some_memory_but_not_any() -> None:
    assert 0 < host_budget().left < 2**60
