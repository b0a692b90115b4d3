"""Equality as people read it."""

from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.equality.told import divergence, lines, proven, unproven

PLACE: dict[str, Any] = {
    "number": 3,
    "prompt": "def barrier(rows):",
    "index": 17,
    "what": "token",
    "baseline": 4,
    "other": 9,
    "gap": 0.0000125,
}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, "index 17: token 9, where the baseline has token 4 (top-2 gap 0.000013)"),
        ({"other": None}, "index 17: the end, where the baseline has token 4 (top-2 gap 0.000013)"),
        ({"baseline": None, "gap": None}, "index 17: token 9, where the baseline has the end"),
        (
            {"what": "logprob", "other": 4},
            "index 17: token 4 in both, with another logprob (top-2 gap 0.000013)",
        ),
        (
            {"what": "text", "baseline": None, "other": None, "gap": None},
            "index 17: the same tokens, decoded to another text",
        ),
    ],
)
def test_a_divergence_is_told_in_one_line(changed: dict[str, Any], told: str) -> None:
    assert divergence(PLACE | changed) == f"prompt 3 'def barrier(rows):', {told}"


@pytest.mark.parametrize(("length", "shown"), [(48, 48), (49, 48), (500, 48)])
def test_a_long_prompt_is_cut(length: int, shown: int) -> None:
    told = divergence(PLACE | {"prompt": "x" * length})
    (_, prompt, _) = told.split("'")
    assert len(prompt) == shown
    assert prompt.endswith("...") == (length > 48)


def test_a_prompt_stays_on_its_line() -> None:
    assert "\n" not in divergence(PLACE | {"prompt": "one\ntwo"})


def row(arm: str, *, differs: bool, role: str = "arm") -> dict[str, Any]:
    first = PLACE if differs else None
    return {"arm": arm, "role": role, "equal": 44 - differs, "prompts": 44, "first": first}


def compared(verdict: str, *rows: dict[str, Any]) -> dict[str, Any]:
    """An equality of one mode, whose arms prove their own names."""
    mode = {"mode": "eager", "verdict": verdict, "why": "", "distinct": 431, "rows": [*rows]}
    arms = {each["arm"] for each in rows if each["role"] == "arm" and "," not in each["arm"]}
    proofs = {f"eager.{arm}": [{"feature": "x", "text": f"{arm} = {arm}"}] for arm in arms}
    return {"verdict": verdict, "modes": [mode], "proofs": proofs}


def test_what_differs_is_told_with_its_proof_once() -> None:
    found = compared(
        "differs",
        row("exchanged", differs=True, role="negative control"),
        row("off", differs=False),
        row("on", differs=True),
        row("on, 16 at once", differs=True),
        row("swaps", differs=False),
        row("swaps, 16 at once", differs=True),
    )
    assert [*proven(found)] == ["eager.on, x: on = on", "eager.swaps, x: swaps = swaps"]


def test_what_is_equal_is_told_without_its_proof() -> None:
    assert not [*proven(compared("equal", row("on", differs=False)))]


@pytest.mark.parametrize("verdict", ["differs", "inconclusive"])
def test_a_failed_proof_is_the_last_that_is_told_where_answers_differ(verdict: str) -> None:
    found = compared(verdict, row("off", differs=False), row("on", differs=True))
    del found["proofs"]["eager.on"]
    told = unproven(MismatchError("equality, eager.on: rows:\n  a", hint="look"), found)
    assert str(told).splitlines() == [
        f"equality with its baseline: {verdict}",
        f"  eager: {verdict}; 431 distinct tokens",
        "    off: 44/44 equal",
        "    on: 43/44 equal",
        f"      {divergence(PLACE)}",
        "equality, eager.on: rows:",
        "  a",
    ]
    assert told.hint == "look"


def test_a_failed_proof_is_told_first_where_all_is_equal() -> None:
    told = unproven(MismatchError("rows:\n  a"), compared("equal", row("on", differs=False)))
    assert str(told) == "rows:\n  a\n  every answer is the baseline's all the same"


def test_every_mode_and_row_has_a_line() -> None:
    rows = [
        {"arm": "self", "role": "control", "equal": 44, "prompts": 44, "first": None},
        {"arm": "exchanged", "role": "negative control", "equal": 0, "prompts": 44, "first": PLACE},
        {"arm": "off", "role": "arm", "equal": 44, "prompts": 44, "first": None},
        {"arm": "on", "role": "arm", "equal": 43, "prompts": 44, "first": PLACE},
    ]
    eager = {"mode": "eager", "verdict": "differs", "why": "on", "distinct": 431, "rows": rows}
    compiled = {"mode": "compiled", "verdict": "equal", "why": "", "distinct": 430, "rows": []}
    place = "    prompt 3 'def barrier(rows):', index 17: token 9, where the baseline has token 4"
    assert [*lines({"modes": [eager, compiled]})] == [
        "eager: differs (on); 431 distinct tokens",
        "  self: 44/44 equal, as it must be",
        "  exchanged: 0/44 equal, and must differ",
        f"{place} (top-2 gap 0.000013)",
        "  off: 44/44 equal",
        "  on: 43/44 equal",
        f"{place} (top-2 gap 0.000013)",
        "compiled: equal; 430 distinct tokens",
    ]
