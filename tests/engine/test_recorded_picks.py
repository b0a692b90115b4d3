"""Picks that an engine wrote are those that it routed: whose, where, in which phase, and in which order."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanewright.residency.trace_file.engine_file import read_engine_file
from lanewright.residency.trace_file.recorded import DECODE, PREFILL, VERIFY, Recorded
from lanewright.residency.trace_file.sums import require_exact
from tests.engine.conftest import PIN
from tests.engine.counting import EXPERTS, LAYERS, PINS, K
from tests.engine.lane_python import Laid

# Prompts are split, prefixes shared within 200 tokens, and requests preempted.
TIGHT = {"block_size": 32, "max_num_batched_tokens": 64, "num_gpu_blocks_override": 96}
ORDERLY = ("eight_at_once", "chunked_prefill", "prefix_cache_hits", "stop_tokens_at_once")
NGRAM = {
    "num_speculative_tokens": 3,
    "method": "ngram",
    "prompt_lookup_min": 1,
    "prompt_lookup_max": 4,
}
JOBS: dict[str, dict[str, Any]] = {
    "eager": {"engine": {**TIGHT, "enforce_eager": True}, "captured": True, "hidden": True},
    "compiled": {"engine": {**TIGHT, "enforce_eager": False}},
    "ahead": {"engine": {**TIGHT, "enforce_eager": True}, "captured": True, "ahead": True},
    "preempted": {
        "engine": {**TIGHT, "enforce_eager": True},
        "captured": True,
        "scenarios": ["preemption"],
    },
    "drafts": {
        "engine": {"enforce_eager": True, "speculative_config": NGRAM},
        "captured": True,
        "scenarios": ["repetitive"],
    },
    "banked": {
        "engine": {
            **TIGHT,
            "enforce_eager": True,
            "moe_hot_experts": "5",
            "moe_usage_counter": None,
        },
        "captured": True,
    },
    "banked-compiled": {
        "engine": {
            **TIGHT,
            "enforce_eager": False,
            "moe_hot_experts": "5",
            "moe_usage_counter": None,
        }
    },
    "full": {"engine": {"enforce_eager": True}, "size": "0.1MiB"},
}
# vLLM 0.30.0 has no sampler for drafts on a CPU without Triton.
OTHERS = ("eager", "compiled", "ahead")
ENGINES = [
    pytest.param(pin, name, marks=pytest.mark.engine if pin == PIN else pytest.mark.engine_full)
    for pin in PINS
    for name in (JOBS if pin == PIN else OTHERS)
]
over_engines = pytest.mark.parametrize(
    ("found", "name"), ENGINES, indirect=["found"], scope="module"
)
ASKED_IN_ORDER = ("eager", "compiled", "ahead", "drafts", "banked", "banked-compiled")


@pytest.fixture(scope="module")
def found(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:  # noqa: ANN401 - JSON
    """What every engine of a pin recorded."""
    folder, pin = tmp_path_factory.mktemp("recorded"), getattr(request, "param", PIN)
    names = JOBS if pin == PIN else OTHERS
    jobs = []
    for name in names:
        job = JOBS[name]
        (folder / name).mkdir()
        jobs.append(
            {
                "scenarios": ORDERLY,
                "captured": False,
                **job,
                "name": name,
                "folder": str(folder / name),
            }
        )
    banked = [job for job in jobs if job["name"].startswith("banked")]
    plain = [job for job in jobs if job not in banked]
    facts = laid(pin).run_jobs("recorded_picks.py", plain, folder=folder)
    if banked:
        facts |= laid(pin, "cpu-twobank").run_jobs("recorded_picks.py", banked, folder=folder)
    return facts


def trace_of(facts: dict[str, Any]) -> Recorded:
    """Read what an engine wrote."""
    return read_engine_file(Path(facts["recorded"]["file"]))


@over_engines
def test_every_pick_is_written_once(found: dict[str, Any], name: str) -> None:
    facts = found[name]
    usage, recorded = facts["usage"], facts["recorded"]
    trace = trace_of(facts)
    if name == "full":
        assert recorded["ended"] == "the file has as many bytes as it may have"
        assert 0 < trace.tokens == recorded["written"] < usage["tokens"] == recorded["tokens"]
        assert Path(recorded["file"]).stat().st_size <= 0.1 * 2**20
        return
    assert recorded["ended"] == ""
    assert trace.tokens == recorded["written"] == recorded["tokens"] == usage["tokens"]
    assert list(trace.layers) == usage["layers"]
    assert (trace.experts, trace.picks, len(trace.layers)) == (EXPERTS, K, LAYERS)
    require_exact(trace, usage["tokens"], np.array(usage["counts"]))


@over_engines
def test_picks_are_in_the_order_of_the_batch(found: dict[str, Any], name: str) -> None:
    facts = found[name]
    if facts["captured"] is None:
        pytest.skip("nothing beside the record keeps the picks of a compiled engine in order")
    routed = np.load(facts["captured"])[:, :LAYERS]
    assert np.array_equal(trace_of(facts).ids, routed)


@over_engines
def test_tokens_are_those_of_the_answers(found: dict[str, Any], name: str) -> None:
    facts = found[name]
    if name not in ASKED_IN_ORDER:
        pytest.skip("what was preempted is computed twice, and what has no room is not written")
    trace = trace_of(facts)
    # A scheduler that is a step ahead has one more scheduled by the time that a stop is seen.
    expected = [
        (each["prompt"], each["cached"], answer + (name == "ahead" and end == "stop"))
        for each in facts["asked"]
        for answer, end in zip(each["outputs"], each["ended"], strict=True)
    ]
    assert trace.request.max() + 1 == len(expected)
    routed = {
        number: trace.position[(trace.request == number) & trace.accepted]
        for number in range(len(expected))
    }
    # Requests are numbered as they begin, which in a batch need not be as they were asked.
    spans: Counter[tuple[int, int, int]] = Counter()
    for number, positions in routed.items():
        assert np.array_equal(np.sort(positions), np.arange(positions.min(), positions.max() + 1))
        prompt = 1 + positions[_phase(trace, number) == PREFILL].max()
        spans[int(prompt), int(positions.min()), int(positions.max()) + 2 - int(prompt)] += 1
    if name == "drafts":
        # The last step of an answer may have accepted what is past its end.
        assert sum(n * spans[p, c, n] for p, c, n in spans) >= sum(n for *_, n in expected)
        assert Counter((p, c) for p, c, _ in spans.elements()) == Counter(
            (p, c) for p, c, _ in expected
        )
    else:
        assert spans == Counter(expected)


def _phase(trace: Recorded, number: int) -> Any:  # noqa: ANN401 - uint8[T]
    return trace.phase[(trace.request == number) & trace.accepted]


@over_engines
def test_phases_are_the_schedulers(found: dict[str, Any], name: str) -> None:
    trace = trace_of(found[name])
    phases = set(np.unique(trace.phase).tolist())
    assert phases == ({PREFILL, DECODE, VERIFY} if name == "drafts" else {PREFILL, DECODE})
    assert trace.weights is not None
    assert (trace.weights > 0).all()
    assert (trace.hidden is None) is not JOBS[name].get("hidden", False)


@pytest.mark.engine
def test_drafts_that_were_rejected_are_there_and_told(found: dict[str, Any]) -> None:
    facts = found["drafts"]
    trace, drafts = trace_of(facts), facts["drafts"]
    rejected = drafts["scheduled"] - drafts["taken"]
    assert 0 < rejected < drafts["scheduled"]
    assert int((~trace.accepted).sum()) == rejected
    assert int((trace.phase == VERIFY).sum()) > drafts["scheduled"]


@pytest.mark.engine
def test_the_first_layer_is_given_the_embedding(found: dict[str, Any]) -> None:
    facts = found["eager"]
    trace, table = trace_of(facts), np.load(facts["embedding"])
    assert trace.hidden is not None
    assert trace.hidden.shape == (trace.tokens, LAYERS, table.shape[1])
    known = {row.tobytes() for row in table}
    assert all(row.tobytes() in known for row in trace.hidden[:, 0])
    assert not all(row.tobytes() in known for row in trace.hidden[:, 1])


@pytest.mark.engine
def test_something_was_preempted_and_computed_again(found: dict[str, Any]) -> None:
    facts = found["preempted"]
    trace = trace_of(facts)
    assert facts["preempted"] > 0
    places = np.stack([trace.request, trace.position], axis=1)
    assert len(np.unique(places, axis=0)) < trace.tokens
