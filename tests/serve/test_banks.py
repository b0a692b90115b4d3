"""Every way in which the proof of the two banks can fail, by name."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewright.errors import MismatchError
from lanewright.serve.banks import banked, require_resident
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.proof import prove
from tests.serve.workers import (
    ANSWERS,
    PICKS,
    banks,
    off,
    on,
    refusal,
    refused,
    rows,
    status,
    usage,
    whole,
)

ON: Mapping[str, object] = {"moe_hot_experts": "2"}
WRONG = (
    "a, expert 1: hot row 0 of w2 is not what was loaded",
    "a, expert 2: the device's table has it elsewhere than the host's",
)
FILE = {
    "folder": "/a disk",
    "bytes": 8192,
    "kept": 0,
    "locked": 4096,
    "steps": 7,
    "read": 640,
    "least": 640,
    "once": 640,
    "give_backs": 15,
}
FOLLOWS = {"trusted": True, "every": 3, "decisions": 2, "ended": ""}
SWAPPED = {"barriers": 3, "swaps": 12, "bytes": 1152, "seconds": 0.0125}


def worker(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    """Status of a worker whose counter is not switched on by itself."""
    return status(on=True) | {"moe_usage_counter": False, "moe_hot_experts": "2"} | changed


def two(**changed: Any) -> Evidence:  # noqa: ANN401
    """One worker with two banks, honest but for what is changed of them."""
    return whole(Evidence((worker(),), (usage(),), ANSWERS, banks=(banks(**changed),)))


def test_on_is_proven_by_both_banks_picks(lane: LaneEnv) -> None:
    assert prove(lane, ON, two(), "a boot") == (
        Proof(
            "moe_hot_experts",
            on=True,
            facts={
                "workers": 1,
                "picks": 56,
                "tokens": 14,
                "hot_rows": 4,
                "follows": 0,
                "decisions": 0,
                "mixed_layers": 2,
                "hot_picks": 46,
                "cold_picks": 10,
                "barriers": 0,
                "swaps": 0,
                "failed": 0,
                "bytes": 0,
                "swapped": 0,
            },
            text="46 hot + 10 cold picks (17.9% cold) = 56; no swap was asked for;"
            " every expert's row is as it was loaded",
        ),
    )


def test_swaps_are_proven_with_what_they_moved(lane: LaneEnv) -> None:
    (proof,) = prove(lane, ON, two(**SWAPPED), "a boot")
    assert {name: proof.facts[name] for name in ("barriers", "swaps", "bytes")} == {
        "barriers": 3,
        "swaps": 12,
        "bytes": 1152,
    }
    assert "; 12 swaps at 3 barriers moved 1152 bytes in 0.013 s; every expert's" in proof.text


def test_the_counter_beside_it_is_proven_too(lane: LaneEnv) -> None:
    evidence = dataclasses.replace(two(), status=(worker(moe_usage_counter=True),))
    proofs = prove(lane, {**ON, "moe_usage_counter": True}, evidence, "a boot")
    assert [each.feature for each in proofs] == ["moe_usage_counter", "moe_hot_experts"]
    assert len({each.facts["picks"] for each in proofs}) == 1


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"audit": [*WRONG]}, f"worker 42 has rows that are wrong:\n  {WRONG[0]}\n  {WRONG[1]}"),
        ({"hot_picks": 45}, "worker 42 served 45 hot and 10 cold picks, and 56 were counted"),
        ({"cold_picks": 11}, "worker 42 served 46 hot and 11 cold picks, and 56 were counted"),
        (
            {"hot_picks": PICKS, "cold_picks": 0},
            "worker 42 proves nothing: no pick was served from the cold bank",
        ),
        (
            {**SWAPPED, "failed": 2, "failures": ["a, expert 1: x", "b, expert 2: y"]},
            "worker 42: 2 swaps failed:\n  a, expert 1: x\n  b, expert 2: y",
        ),
        ({**SWAPPED, "bytes": 0}, "worker 42 swapped 12 times and moved nothing"),
    ],
)
def test_on_is_refused(lane: LaneEnv, changed: dict[str, Any], told: str) -> None:
    assert refused(lane, ON, two(**changed)) == f"moe_hot_experts: {told}"


def test_a_map_that_follows_is_proven_by_its_policys_decisions(lane: LaneEnv) -> None:
    engine = {**ON, "moe_follow": "3"}
    (proof,) = prove(lane, engine, two(follows=FOLLOWS), "a boot")
    assert (proof.facts["follows"], proof.facts["decisions"], proof.facts["swaps"]) == (1, 2, 0)
    assert "; no swap was asked for; the policy looked 2 times at traffic, 0 swaps" in proof.text
    assert "followed" not in proof.text
    (moved,) = prove(lane, engine, two(follows=FOLLOWS, **SWAPPED), "a boot")
    assert "; the policy looked 2 times at traffic, 12 swaps; every" in moved.text


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ended": "the counts are not exact"}, "follows no more: the counts are not exact"),
        ({"decisions": 0}, "asked 0 times in 7 forwards, and every 3 of them makes 2"),
        ({"decisions": 1}, "asked 1 times in 7 forwards, and every 3 of them makes 2"),
        ({"every": 8, "decisions": 0}, "is asked every 8 forwards, and there were 7"),
        (None, "the map stands still"),
    ],
)
def test_a_map_that_did_not_follow_as_it_was_to_is_refused(
    lane: LaneEnv, changed: dict[str, Any] | None, told: str
) -> None:
    follows = None if changed is None else FOLLOWS | changed
    error = refused(lane, {**ON, "moe_follow": "3"}, two(follows=follows))
    assert error.startswith("moe_follow is on and proves nothing: ")
    assert told in error
    if changed is not None:
        # Where a call had the map follow, too.
        assert told in refused(lane, ON, two(follows=follows))


def test_of_every_worker_the_map_must_follow(lane: LaneEnv) -> None:
    one = two()
    ended = banks(follows=FOLLOWS | {"ended": "why"})
    pair = dataclasses.replace(
        one,
        status=(worker(pid=1), worker(pid=2)),
        usage=(usage(), usage()),
        banks=(banks(follows=FOLLOWS), ended),
        moe=one.moe * 2,
    )
    assert "follows no more: why" in refused(lane, {**ON, "moe_follow": "3"}, pair)


def test_rows_of_a_file_are_proven_by_what_was_read(lane: LaneEnv) -> None:
    (proof,) = prove(lane, {**ON, "moe_cold_rows": "file"}, two(file=FILE), "a boot")
    assert proof.facts["file_read"] == 640
    assert proof.text.endswith(
        "; 7 steps read 640 bytes from disks, 640 of them for the cold rows that each picked, of a"
        " file's 8192 bytes, and 4096 bytes are locked in memory"
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"read": 0},
            "7 steps read 0 bytes from disks, and the cold rows that each step picked have 640",
        ),
        ({"read": 639}, "7 steps read 639 bytes from disks, "),
        (
            {"kept": 4096},
            "behind a step 4096 bytes of its cold rows in /a disk were still in memory",
        ),
    ],
)
def test_a_file_whose_rows_cost_nothing_is_refused(
    lane: LaneEnv, changed: dict[str, Any], told: str
) -> None:
    error = refusal(lane, {**ON, "moe_cold_rows": "file"}, two(file=FILE | changed))
    said = "moe_hot_experts: worker 42: moe_cold_rows file proves nothing"
    assert f"{said}: {told}" in str(error)
    assert "EXPERT_BANK_FOLDER" in str(error.hint)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"steps": 6}, "rows were given back behind 6 steps of 7"),
        (
            {"once": 641},
            "steps asked for 640 bytes of cold rows, and those that were picked have 641",
        ),
    ],
)
def test_a_files_own_count_that_leaves_steps_or_rows_out_is_refused(
    lane: LaneEnv, changed: dict[str, Any], told: str
) -> None:
    engine = {**ON, "moe_cold_rows": "file"}
    assert f"proves nothing: {told}" in refused(lane, engine, two(file=FILE | changed))


@pytest.mark.parametrize(
    ("asked", "file", "told"),
    [
        ({"moe_cold_rows": "file"}, None, "in memory, and moe_cold_rows file was asked for"),
        ({"moe_cold_rows": "mirror"}, FILE, "in a file, and moe_cold_rows mirror was asked for"),
        ({}, FILE, "in a file, and moe_cold_rows mirror was asked for"),
    ],
)
def test_cold_rows_that_are_elsewhere_are_refused(
    lane: LaneEnv, asked: dict[str, object], file: object, told: str
) -> None:
    assert f"worker 42 has its cold rows {told}" in refused(lane, {**ON, **asked}, two(file=file))


def test_resident_experts_are_no_banks(lane: LaneEnv) -> None:
    error = refusal(lane, ON, dataclasses.replace(two(), banks=(None,)))
    assert "on and proves nothing: worker 42 has all experts resident" in str(error)
    assert "worker_cls" in str(error.hint)


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        (dataclasses.replace(two(), usage=(None,)), "proves nothing: worker 42 counts nothing"),
        (
            dataclasses.replace(two(), usage=(usage(counts=[[14, 14, 0], [0, 13, 14]]),)),
            "counted 55 picks, and 14 scheduled",
        ),
        (dataclasses.replace(two(), completions=ANSWERS[:1]), "was scheduled 14 tokens"),
    ],
)
def test_picks_that_are_not_exact_prove_no_bank_either(
    lane: LaneEnv, evidence: Evidence, told: str
) -> None:
    assert told in refused(lane, ON, evidence)


@pytest.mark.parametrize("has", ["", None])
def test_a_worker_that_was_not_told_is_named_with_the_patch(lane: LaneEnv, has: object) -> None:
    evidence = dataclasses.replace(two(), status=(worker(moe_hot_experts=has),))
    error = refusal(lane, ON, evidence)
    assert f"moe_hot_experts was asked to be True, and worker 42 has {has}" in str(error)
    assert "patches/own/moe-two-bank.patch" in str(error.hint)


def test_every_worker_must_prove_it(lane: LaneEnv) -> None:
    whole_one = two()
    pair = dataclasses.replace(
        whole_one,
        status=(worker(pid=1), worker(pid=2)),
        usage=(usage(), usage()),
        banks=(banks(), banks()),
        moe=whole_one.moe * 2,
    )
    (proof,) = prove(lane, ON, pair, "a boot")
    assert proof.facts["workers"] == 2
    for second, told in (
        (None, "worker 2 has all experts resident"),
        (banks(audit=[WRONG[0]]), "worker 2 has rows that are wrong"),
        (banks(failed=1), "worker 2: 1 swaps failed"),
    ):
        evidence = dataclasses.replace(pair, banks=(banks(), second))
        assert told in refused(lane, ON, evidence)


@pytest.mark.parametrize("evidence", [off(), on()])
def test_off_is_proven_of_every_worker(evidence: Evidence) -> None:
    require_resident(evidence, "a boot")
    with pytest.raises(MismatchError, match="a boot: moe_hot_experts is off, and worker 42 serves"):
        require_resident(dataclasses.replace(evidence, banks=(banks(),)), "a boot")


@given(
    hot=st.integers(0, PICKS + 2),
    cold=st.integers(0, PICKS + 2),
    swaps=st.integers(0, 2),
    moved=st.integers(0, 2),
)
def test_only_whole_sums_and_rows_that_moved_prove_anything(
    hot: int, cold: int, swaps: int, moved: int
) -> None:
    evidence = two(hot_picks=hot, cold_picks=cold, swaps=swaps, bytes=moved)
    if hot + cold == PICKS and cold and (moved or not swaps):
        proof = banked(evidence, "a boot", ON)
        assert proof.facts["hot_picks"] + proof.facts["cold_picks"] == PICKS
    else:
        with pytest.raises(MismatchError, match="a boot: moe_hot_experts: worker 42"):
            banked(evidence, "a boot", ON)


def test_drafts_are_served_from_the_banks_too(lane: LaneEnv) -> None:
    engine = {**ON, "speculative_config": {"method": "ngram"}}
    more = usage(tokens=20, counts=rows(20))
    evidence = dataclasses.replace(two(hot_picks=70), usage=(more,))
    (proof,) = prove(lane, engine, evidence, "a boot")
    assert proof.facts["picks"] == 80
    assert "served 46 hot" in refused(lane, engine, dataclasses.replace(two(), usage=(more,)))
