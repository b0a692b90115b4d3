"""Graphs of an engine with two banks: captured once, and not again by what is swapped."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.equality.asked import Asked
from lanewright.serve.equality.run import Equality, equality
from tests.serve.equality.fresh import TREE, fresh
from tests.serve.stand_in import lay_pin, lay_stand_in

PROMPTS = 20
ASKED = Asked(prompts=PROMPTS, tokens=24)
ON = ("on", "swaps", "follows", "mapped")


def compared(folder: Path, mode: Any = "compiled", **lies: Any) -> Equality:  # noqa: ANN401
    with ExitStack() as after_record:
        return equality(
            lay_pin(folder / "pin", **lies),
            lay_stand_in(folder, lies=lies),
            baseline=TREE,
            model=folder / "model",
            engine={"moe_hot_experts": "5"},
            folder=folder / "equality",
            device="cuda",
            modes=(mode,),
            resuming=fresh(folder),
            after_record=after_record,
            asked=ASKED,
            # One engine for all maps: what a swap did would still be there.
            boots=3,
        )


def test_they_are_counted_when_the_engine_is_up_and_behind_every_arm(tmp_path: Path) -> None:
    found = compared(tmp_path, graphs=3)
    told = {arm: each["graphs"] for arm, each in found.engines.items()}
    arms = ("baseline", "self", "off", *ON)
    assert told == {f"compiled.{arm}": {"up": 3, "ended": 3} for arm in arms}
    for arm in ON:
        (proof,) = found.proofs[f"compiled.{arm}"]
        assert proof.facts["graphs"] == 3
        assert proof.text.endswith("; 3 graphs, none captured again")
    assert found.proofs["compiled.swaps"][0].facts["swapped"] > 0


def test_one_that_is_captured_again_fails_the_arm(tmp_path: Path) -> None:
    """In the second pass over the prompts, in which rows are swapped."""
    again = PROMPTS + 3
    with pytest.raises(MismatchError) as caught:
        compared(tmp_path, graphs=3, recaptures=again)
    assert str(caught.value).startswith(
        "equality, compiled.swaps: moe_hot_experts: 3 graphs were captured until the engine was up,"
        " and 3 more after it, with "
    )


def test_where_there_is_none_nothing_is_said_of_them(tmp_path: Path) -> None:
    found = compared(tmp_path, mode="eager", graphs=3)
    assert found.engines["eager.on"]["graphs"] == {"up": 0, "ended": 0}
    (proof,) = found.proofs["eager.on"]
    assert "graphs" not in proof.facts
    assert "graph" not in proof.text
