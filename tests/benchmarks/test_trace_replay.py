"""The benchmark of a replay: what it measures, and how it ends."""

import pytest

from benchmarks import trace_replay

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few picks and EAMs, and bounds that anything keeps."""
    monkeypatch.setattr("sys.argv", ["trace_replay", "--tokens", "40", "--repeats", "1"])
    monkeypatch.setattr(trace_replay, "PAPER", {7: 21})
    monkeypatch.setattr(trace_replay, "LEAST_PICKS", 0.0)
    monkeypatch.setattr(trace_replay, "MOST_RATIO", 1e9)


def test_each_policy_and_size_has_a_line(capfd: Capture) -> None:
    assert trace_replay.main() == 0
    found = capfd.readouterr()
    names = [line.split(":")[0].strip() for line in found.out.splitlines()]
    assert names[1:6] == [*trace_replay.HELD, "LRU, uniform traffic", "LRU, 60 rows"]
    assert names[7] == "7 EAMs"
    assert "; the paper has 21" in found.out
    assert found.err == ""


@pytest.mark.parametrize("policy", trace_replay.HELD)
def test_a_slow_policy_ends_it_with_5(
    policy: str, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_replay, "LEAST_PICKS", 1e9)
    assert trace_replay.main() == 5
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 3
    assert any(each.startswith(f"NOT REACHED: {policy}: million picks a second") for each in said)


def test_a_slow_query_ends_it_with_5(capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_replay, "MOST_RATIO", 1e-9)
    assert trace_replay.main() == 5
    assert "NOT REACHED: 7 EAMs: a query, in products," in capfd.readouterr().err
