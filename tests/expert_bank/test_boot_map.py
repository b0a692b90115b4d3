"""Which experts are hot at boot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.boot_map import KINDS, boot_map
from expert_bank.refused import Refused


def counts(*layers: list[int]) -> list[np.ndarray]:
    return [np.array(layer, np.int64) for layer in layers]


def test_the_first_experts() -> None:
    assert boot_map("first", hot=[2, 0, 4], experts=[4, 4, 4], usage=None) == [
        [0, 1],
        [],
        [0, 1, 2, 3],
    ]


def test_none_at_first_but_where_there_is_no_cold_row() -> None:
    assert boot_map("empty", hot=[2, 0, 4], experts=[4, 4, 4], usage=None) == [
        [],
        [],
        [0, 1, 2, 3],
    ]


def test_the_most_used_first_and_ties_by_id() -> None:
    usage = counts([0, 5, 9, 5], [0, 0, 0, 0], [7, 0, 7, 0])
    assert boot_map("usage", hot=[3, 2, 3], experts=[4, 4, 4], usage=usage) == [
        [2, 1, 3],
        [0, 1],
        [0, 2, 1],
    ]


def test_counts_that_a_float_would_call_equal_are_told_apart() -> None:
    usage = counts([2**53, 2**53 + 1, 2**63 - 1, 0])
    assert float(2**53) == float(2**53 + 1)
    assert boot_map("usage", hot=[4], experts=[4], usage=usage) == [[2, 1, 0, 3]]


def test_layers_may_differ_in_experts() -> None:
    usage = counts([1, 2], [3, 4, 5])
    assert boot_map("usage", hot=[1, 1], experts=[2, 3], usage=usage) == [[1], [2]]


def test_an_unknown_kind_names_those_that_are() -> None:
    with pytest.raises(
        Refused, match=r"moe_boot_map: there is no 'random'\nthere are first, empty, usage"
    ):
        boot_map("random", hot=[1], experts=[2], usage=None)


def test_missing_counts_are_told_with_the_command_that_makes_them() -> None:
    with pytest.raises(Refused, match=r"needs usage counts\n.*lanewright residency map USAGE"):
        boot_map("usage", hot=[1], experts=[2], usage=None)


@pytest.mark.parametrize("kind", ["first", "empty"])
def test_counts_that_nothing_reads_are_refused(kind: str) -> None:
    with pytest.raises(Refused, match=f"moe_boot_map '{kind}' takes no usage counts"):
        boot_map(kind, hot=[1], experts=[2], usage=counts([1, 2]))


@pytest.mark.parametrize("usage", [[], [[1, 2, 3]], [[1, 2], [1, 2]], [[[1, 2]]]])
def test_counts_of_another_shape_are_refused(usage: list[list[int]]) -> None:
    with pytest.raises(Refused, match=r"usage counts of shapes .* \[2\] experts"):
        boot_map("usage", hot=[1], experts=[2], usage=counts(*usage))


@pytest.mark.parametrize("hot", [[3], [-1], [1, 1], []])
@pytest.mark.parametrize("kind", KINDS)
def test_hot_rows_that_no_layer_has_are_a_mistake_of_the_caller(kind: str, hot: list[int]) -> None:
    with pytest.raises(ValueError, match="hot rows"):
        boot_map(kind, hot=hot, experts=[2], usage=None)


@given(st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 3), min_size=1), st.data())
def test_no_cold_expert_was_used_more_than_a_hot_one(picks: list[int], data: st.DataObject) -> None:
    rows = data.draw(st.integers(0, len(picks)))
    (hot,) = boot_map("usage", hot=[rows], experts=[len(picks)], usage=counts(picks))
    assert len(set(hot)) == rows == len(hot)
    ranked = hot + [expert for expert in range(len(picks)) if expert not in hot]
    keys = [(-picks[expert], expert) for expert in ranked]
    assert keys[:rows] == sorted(keys)[:rows]
