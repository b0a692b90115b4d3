"""Stats as metrics."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from expert_bank.following import Followed
from expert_bank.metrics import AGE, METRICS
from expert_bank.stats import snapshot
from tests.expert_bank.watched import ROW, Banks, Totals

DOCS = Path(__file__).parents[2] / "docs" / "visibility.md"


STAGING = {
    "steps": 21,
    "tokens": 22,
    "rows": 23,
    "bytes": 24,
    "late": 25,
    "failed": 26,
    "refused": {
        "decode": 31,
        "switched_off": 32,
        "captured": 33,
        "below_threshold": 34,
        "failed": 36,
        "unfilled": 35,
    },
    "least_tokens": 65,
    "on": True,
}


def samples(banks: Banks) -> dict[str, float]:
    """By name and by the values of the labels that are a metric's own."""
    stats = snapshot(banks, "/models/m", served_as="m", engine=3)  # type: ignore[arg-type]
    found = {}
    for metric in METRICS:
        for (model, engine, *own), value in metric.read(stats):
            assert (model, engine) == ("m", "3")
            found[f"{metric.name}{{{','.join(own)}}}"] = value
    return found


def test_names_are_by_the_convention() -> None:
    assert len({each.name for each in METRICS}) == len(METRICS)
    for each in METRICS:
        assert re.fullmatch(r"expert_bank_[a-z_]+", each.name)
        assert each.name.endswith("_total") == (each.kind == "counter")
        assert each.text.endswith(".")
        assert each.labels[:2] == ("model_name", "engine")


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
    banks.staging = SimpleNamespace(stats=lambda: STAGING)
    found = samples(banks)
    assert {name.partition("{")[0] for name in found} == {each.name for each in METRICS}
    assert found["expert_bank_picks_total{a,hot}"] == 24
    assert found['expert_bank_picks_total{b"\n,cold}'] == 6
    assert found["expert_bank_forwards_total{}"] == 3
    assert found["expert_bank_tokens_total{}"] == 15
    assert found["expert_bank_cold_share{served}"] == pytest.approx(0.2)
    assert found["expert_bank_cold_share{null}"] == 0.5
    assert found["expert_bank_cold_picks_total{served}"] == 8
    assert found["expert_bank_cold_picks_total{oracle}"] == 1
    assert found["expert_bank_trusted{}"] == 1
    assert found["expert_bank_frozen{}"] == 1
    assert found["expert_bank_hot_rows{a}"] == 2
    assert found["expert_bank_staged_steps_total{}"] == 21
    assert found["expert_bank_staged_bytes_total{}"] == 24
    assert found["expert_bank_late_staged_rows_total{}"] == 25
    assert found["expert_bank_unstaged_steps_total{decode}"] == 31
    assert found["expert_bank_unstaged_steps_total{unfilled}"] == 35
    assert found["expert_bank_staging_least_tokens{}"] == 65
    assert found["expert_bank_staging_on{}"] == 1


def test_each_number_is_told_by_its_own_metric() -> None:
    banks = Banks(names=["a", "b"])
    banks.earlier = Followed(
        decisions=60,
        seconds=0.5,
        drain_seconds=4.5,
        fallbacks=20,
        returns=30,
        served_cold=40,
        oracle_cold=50,
    )
    banks.follow()
    banks.following.seconds, banks.following.drain_seconds = 0.25, 1.5
    banks.following.decisions = 8
    banks.following.policy.late.cold[:] = [[1, 3], [70, 80], [2, 7]]
    banks.following.policy.held_back = 5
    banks.following.policy.guard.fallbacks = 1
    banks.following.policy.guard.returns = 2
    banks.counter.tokens = 7
    banks.barrier.totals = Totals(
        forwards=11, barriers=12, swaps=13, failed=14, cut=15, bytes=16, seconds=17.5
    )
    banks.barrier.layer_swaps = [6, 8]
    banks.picks[:] = [[[100, 0, 0, 0], [0, 0, 200, 0]], [[300, 0, 0, 0], [0, 0, 400, 0]]]
    assert samples(banks) == {
        "expert_bank_picks_total{a,hot}": 100,
        "expert_bank_picks_total{a,cold}": 200,
        "expert_bank_picks_total{b,hot}": 300,
        "expert_bank_picks_total{b,cold}": 400,
        "expert_bank_forwards_total{}": 11,
        "expert_bank_tokens_total{}": 7,
        "expert_bank_cold_picks_total{served}": 44,
        "expert_bank_cold_picks_total{oracle}": 59,
        "expert_bank_barriers_total{}": 12,
        "expert_bank_barrier_seconds_total{}": 17.5,
        "expert_bank_decisions_total{}": 68,
        "expert_bank_deciding_seconds_total{}": 0.75,
        "expert_bank_following_drain_seconds_total{}": 6,
        "expert_bank_swaps_total{a}": 6,
        "expert_bank_swaps_total{b}": 8,
        "expert_bank_failed_swaps_total{}": 14,
        "expert_bank_cut_swaps_total{}": 15,
        "expert_bank_waiting_swaps{}": 5,
        "expert_bank_swap_bytes_total{}": 16,
        "expert_bank_frozen{}": 0,
        "expert_bank_trusted{}": 1,
        "expert_bank_fallbacks_total{}": 21,
        "expert_bank_returns_total{}": 32,
        "expert_bank_hot_rows{a}": 2,
        "expert_bank_hot_rows{b}": 2,
    }


def test_swaps_and_bytes_are_told() -> None:
    banks = Banks()
    banks.follow(residence=0, tokens_per_swap=0, window=10**6)
    banks.serve([1, 1, 40, 40], 6)
    found = samples(banks)
    assert found["expert_bank_swap_bytes_total{}"] == 4 * ROW
    assert found["expert_bank_swaps_total{layers.0}"] == 2


def test_to_have_nothing_to_do_is_seen() -> None:
    banks = Banks()
    banks.follow(every=4)
    banks.serve([20, 20, 1, 1], 9)
    found = samples(banks)
    assert (found["expert_bank_decisions_total{}"], found["expert_bank_barriers_total{}"]) == (2, 0)
    banks.earlier, banks.following = banks.followed, None
    banks.follow(every=1)
    banks.serve([20, 20, 1, 1], 3)
    assert samples(banks)["expert_bank_decisions_total{}"] == 5


def test_a_map_that_stands_still_has_no_guard_and_no_late_share() -> None:
    banks = Banks()
    banks.serve([1, 1, 1, 1])
    names = {name.partition("{")[0] for name in samples(banks)}
    assert "expert_bank_picks_total" in names
    assert not names & {"expert_bank_trusted", "expert_bank_cold_share"}
