"""Nodes of recorded machines, of this one, and of broken ones."""

import os
from pathlib import Path

import pytest

from expert_bank.numa import Node, home, must_bind, nodes
from expert_bank.refused import Refused
from tests.expert_bank.machines import BOARD, GIB, GRACE, PLAIN, node, written


def test_a_grace_machine_has_one_node_for_a_bank(tmp_path: Path) -> None:
    found = nodes(root=written(tmp_path, GRACE))
    assert [each.number for each in found] == list(range(9))
    assert found[0] == Node(0, frozenset(range(72)), 494 * GIB)
    assert found[1] == Node(1, frozenset(), 95 * GIB)
    assert must_bind(found)
    assert home(found, cpus=range(40, 44)).number == 0
    assert home(found, cpus=range(72), wanted=0).number == 0


@pytest.mark.parametrize("wanted", [1, 2, 9])
def test_device_memory_is_no_home(tmp_path: Path, wanted: int) -> None:
    with pytest.raises(Refused) as refused:
        home(nodes(root=written(tmp_path, GRACE)), cpus=range(72), wanted=wanted)
    text = str(refused.value)
    assert f"cannot be on node {wanted}" in text
    assert "node 0 (72 CPUs, 494.00 GiB), node 1 (0 CPUs, 95.00 GiB)" in text


@pytest.mark.parametrize(
    ("cpus", "number"), [(range(72), 0), (range(72, 144), 1), (range(70, 144), 1), (range(144), 0)]
)
def test_a_board_of_two_has_the_node_of_most_cpus(tmp_path: Path, cpus: range, number: int) -> None:
    found = nodes(root=written(tmp_path, BOARD))
    assert home(found, cpus=cpus).number == number
    assert home(found, cpus=cpus, wanted=1).number == 1


def test_a_plain_machine_needs_no_binding(tmp_path: Path) -> None:
    found = nodes(root=written(tmp_path, PLAIN))
    assert not must_bind(found)
    assert home(found, cpus={0, 1}).number == 0


def test_empty_nodes_need_no_binding(tmp_path: Path) -> None:
    assert not must_bind(nodes(root=written(tmp_path, {**PLAIN, **node(1, "", 0)})))
    assert must_bind(nodes(root=written(tmp_path, {**PLAIN, **node(1, "", 1)})))


def test_a_kernel_without_numa_has_no_node(tmp_path: Path) -> None:
    assert nodes(root=tmp_path) == ()
    assert not must_bind(())
    with pytest.raises(Refused, match="there is no node"):
        home((), cpus={0})


def test_cpus_elsewhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no node with memory has a CPU of this process"):
        home(nodes(root=written(tmp_path, GRACE)), cpus={100})


def test_what_is_no_node_is_left_out(tmp_path: Path) -> None:
    root = written(tmp_path, {**PLAIN, "sys/devices/system/node/nodeX/cpulist": "0\n"})
    (root / "sys/devices/system/node/node٣").mkdir()
    (root / "sys/devices/system/node/node99999999").mkdir()
    assert [each.number for each in nodes(root=root)] == [0]


def test_a_node_without_files_is_empty(tmp_path: Path) -> None:
    root = written(tmp_path, PLAIN)
    (root / "sys/devices/system/node/node1").mkdir()
    assert nodes(root=root)[1] == Node(1, frozenset(), 0)


def test_a_broken_list_of_cpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="'0-7l'"):
        nodes(root=written(tmp_path, node(0, "0-7l", 8)))


def test_this_machine_has_a_home() -> None:
    found = nodes()
    if not found:
        pytest.skip("this kernel has no NUMA")
    assert home(found).cpus & os.sched_getaffinity(0)
