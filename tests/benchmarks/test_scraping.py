"""A server's own metrics over time, by the file that its worker tells through."""

import time
from pathlib import Path

import pytest

from benchmarks.scraping import REGRET, SWAPS, scraped, values
from expert_bank.metrics import METRICS
from expert_bank.staging_metrics import STAGING
from expert_bank.stats import snapshot
from expert_bank.stats_file import write_stats
from tests.expert_bank.watched import Banks


@pytest.fixture
def banks() -> Banks:
    """Two layers whose map follows."""
    found = Banks()
    found.follow(half_life=10**9)
    found.serve([6, 2, 1, 1], 3)
    return found


def test_every_sample_is_named_as_prometheus_writes_it(banks: Banks) -> None:
    found = values(snapshot(banks, "m"))  # type: ignore[arg-type]
    assert (found.pop(SWAPS), found.pop(REGRET)) == (0, 0)
    # There is no staging buffer.
    named = {each.name for each in METRICS} - {each.name for each in STAGING}
    assert {name.partition("{")[0] for name in found} == named
    assert found["expert_bank_tokens_total"] == 15
    assert found['expert_bank_picks_total{layer="layers.0",bank="hot"}'] == 24
    assert found['expert_bank_cold_share{of="served"}'] == pytest.approx(0.2)


def test_what_changed_is_sampled_once_and_the_last_is_not_missed(
    banks: Banks, tmp_path: Path
) -> None:
    file = tmp_path / "stats.json"
    with scraped(file) as samples:
        for number in range(2):
            write_stats(file, {**snapshot(banks, "m"), "time": number})  # type: ignore[arg-type]
            until = time.monotonic() + 30
            while len(samples) == number and time.monotonic() < until:
                time.sleep(0.01)
            banks.serve([6, 2, 1, 1], 1)
        # It is the same file for some looks.
        time.sleep(0.6)
        write_stats(file, {**snapshot(banks, "m"), "time": 9})  # type: ignore[arg-type]
    assert [each["expert_bank_tokens_total"] for each in samples] == [15, 20, 25]


def test_a_file_that_is_broken_or_not_there_is_no_sample(tmp_path: Path) -> None:
    for content in (None, "{"):
        file = tmp_path / "stats.json"
        if content:
            file.write_text(content)
        with scraped(file) as samples:
            pass
        assert samples == []
