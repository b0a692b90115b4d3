"""Where pages lie, as recorded, and in texts that nobody should write."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.pages import HostPages, page_bytes
from expert_bank.placement import placement, require_placement
from expert_bank.refused import Refused
from tests.expert_bank.machines import (
    BOARD,
    GIB,
    GRACE,
    GRACE_BANK,
    PLAIN,
    PLAIN_BANK,
    written,
)

MAPS = "proc/self/numa_maps"


def test_pages_of_64_kib_are_counted(tmp_path: Path) -> None:
    found = require_placement(*GRACE_BANK, 0, root=written(tmp_path, GRACE))
    assert found is not None
    assert found.nodes == {0: 128 * GIB}
    assert found.policies == {"bind:0"}
    assert str(found) == "node 0: 128.00 GiB + on no node: 0 B = 128.00 GiB; policy bind:0"


def test_pages_of_4_kib_are_counted(tmp_path: Path) -> None:
    root = written(tmp_path, PLAIN)
    found = placement(*PLAIN_BANK, root=root)
    assert found is not None
    assert found.nodes == {0: PLAIN_BANK[1]}
    second = placement(0x7F74E44AB000, PLAIN_BANK[1], root=root)
    assert second is not None
    assert second.nodes == {0: PLAIN_BANK[1]}
    assert second.policies == {"bind:0"}


def moved(before: str, after: str) -> dict[str, str]:
    """The Grace machine with another line for its bank."""
    assert before in GRACE[MAPS]
    return {**GRACE, MAPS: GRACE[MAPS].replace(before, after)}


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        ("N0=2097151 N1=1", "node 0: 128.00 GiB + node 1: 64.00 KiB + on no node: 0 B"),
        ("N1=2097152", "node 1: 128.00 GiB + on no node: 0 B"),
        ("N0=2000000", "node 0: 122.07 GiB + on no node: 5.93 GiB"),
        ("", "nothing + on no node: 128.00 GiB"),
        ("N0=4194304", "node 0: 256.00 GiB + on no node: -128.00 GiB"),
        ("N0=x N0=-5 n0=2097152", "nothing + on no node: 128.00 GiB"),
    ],
)
def test_a_page_elsewhere_is_refused_with_the_arithmetic(
    tmp_path: Path, pages: str, told: str
) -> None:
    root = written(tmp_path, moved("N0=2097152", pages))
    with pytest.raises(Refused) as refused:
        require_placement(*GRACE_BANK, 0, root=root)
    assert f"must be on node 0, but {told} = 128.00 GiB; policy bind:0" in str(refused.value)


def test_pages_on_their_way_are_forgiven(tmp_path: Path) -> None:
    root = written(tmp_path, moved("N0=2097152", "N0=2090000"))
    assert require_placement(*GRACE_BANK, 0, root=root) is not None


def test_no_word_of_the_page_size_means_the_systems(tmp_path: Path) -> None:
    root = written(tmp_path, {MAPS: "1000000 default anon=3 N0=2 N1=1\n"})
    found = placement(0x1000000, 3 * page_bytes(), root=root)
    assert found is not None
    assert found.nodes == {0: 2 * page_bytes(), 1: page_bytes()}


def test_a_bank_of_several_parts_is_summed(tmp_path: Path) -> None:
    text = "".join(
        f"{0x1000000 + part * 0x10000:x} prefer (many):0-1 N{part % 2}=16 kernelpagesize_kB=4\n"
        for part in range(4)
    )
    found = placement(0x1000000, 4 * 0x10000, root=written(tmp_path, {MAPS: text}))
    assert found is not None
    assert found.nodes == {0: 2 * 0x10000, 1: 2 * 0x10000}


def test_a_files_name_is_no_line(tmp_path: Path) -> None:
    start, length = GRACE_BANK
    name = f"/a\r{start:x}\u2028{start:x}\x0c{start:x} bind:0 N1=7"
    text = GRACE[MAPS] + f"fff100000000 default file={name} N0=1 kernelpagesize_kB=64\n"
    found = placement(start, length, root=written(tmp_path, {MAPS: text}))
    assert found is not None
    assert found.nodes == {0: length}


@given(st.text())
def test_no_text_breaks_it(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.getbasetemp()
    written(root, {MAPS: text})
    found = placement(0, 2**63, root=root)
    assert found is not None
    assert all(held >= 0 for held in found.nodes.values())


def test_a_kernel_without_numa_has_nothing_to_prove(tmp_path: Path) -> None:
    assert placement(*PLAIN_BANK, root=tmp_path) is None
    assert require_placement(*PLAIN_BANK, 0, root=tmp_path) is None


def test_several_nodes_and_nothing_told_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"128\.00 GiB .* node 1 cannot be proven"):
        require_placement(*GRACE_BANK, 1, root=written(tmp_path, BOARD))


def test_this_machines_pages_are_counted() -> None:
    pages = HostPages(5 * page_bytes())
    if placement(pages.address, pages.size) is None:
        pytest.skip("this kernel has no NUMA")
    pages.view()[:] = b"x" * pages.asked
    found = placement(pages.address, pages.size)
    assert found is not None
    assert sum(found.nodes.values()) == pages.size
    (node,) = found.nodes
    assert require_placement(pages.address, pages.size, node) == found
    with pytest.raises(Refused, match="must be on node 77"):
        require_placement(pages.address, pages.size, 77)
