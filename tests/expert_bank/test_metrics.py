"""Stats as metrics."""

import re
from pathlib import Path

import pytest

from expert_bank.metrics import AGE, METRICS
from expert_bank.stats import snapshot
from tests.expert_bank.watched import ROW, Banks

DOCS = Path(__file__).parents[2] / "docs" / "visibility.md"


def samples(banks: Banks) -> dict[str, float]:
    stats = snapshot(banks, "m")  # type: ignore[arg-type]
    return {
        f"{metric.name}{{{','.join(labels)}}}": value
        for metric in METRICS
        for labels, value in metric.read(stats)
    }


def test_names_are_by_the_convention() -> None:
    assert len({each.name for each in METRICS}) == len(METRICS)
    for each in METRICS:
        assert re.fullmatch(r"expert_bank_[a-z_]+", each.name)
        assert each.name.endswith("_total") == (each.kind == "counter")
        assert each.text.endswith(".")


def test_the_documentation_names_each_and_no_other() -> None:
    rows = re.findall(r"^\| `expert_bank_.*", DOCS.read_text(), re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(expert_bank_\w+)`", row)]
    assert sorted(named) == sorted([AGE, *(each.name for each in METRICS)])


def test_a_map_that_follows_has_them_all() -> None:
    banks = Banks(names=["a", 'b"\n'])
    banks.follow(half_life=10**9)
    banks.following.policy.frozen = True
    banks.serve([6, 2, 1, 1], 3)
    banks.following.policy.late.cold[2, 0] -= 7
    found = samples(banks)
    assert {name.partition("{")[0] for name in found} == {each.name for each in METRICS}
    assert found["expert_bank_picks_total{a,hot}"] == 24
    assert found['expert_bank_picks_total{b"\n,cold}'] == 6
    assert found["expert_bank_forwards_total{}"] == 3
    assert found["expert_bank_tokens_total{}"] == 15
    assert found["expert_bank_cold_share{served}"] == pytest.approx(0.2)
    assert found["expert_bank_cold_share{null}"] == 0.5
    assert found["expert_bank_regret_picks_total{}"] == 7
    assert found["expert_bank_trusted{}"] == 1
    assert found["expert_bank_frozen{}"] == 1
    assert found["expert_bank_hot_rows{a}"] == 2


def test_swaps_and_bytes_are_told() -> None:
    banks = Banks()
    banks.follow(residence=0, tokens_per_swap=0, window=10**6)
    banks.serve([1, 1, 40, 40], 6)
    found = samples(banks)
    assert found["expert_bank_swaps_total{}"] == 4
    assert found["expert_bank_swap_bytes_total{}"] == 4 * ROW
    assert found["expert_bank_layer_swaps_total{layers.0}"] == 2


def test_a_map_that_stands_still_has_no_guard_and_no_late_share() -> None:
    banks = Banks()
    banks.serve([1, 1, 1, 1])
    names = {name.partition("{")[0] for name in samples(banks)}
    assert "expert_bank_picks_total" in names
    assert not names & {"expert_bank_trusted", "expert_bank_cold_share"}
