"""A comparison on real vLLM within two boots: one engine is switched from map to map as it runs."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.engine.conftest import Lane

pytestmark = pytest.mark.engine
SMALL = """[equality]
prompts = 12
tokens = 32
distinct = 60
together = [4]
"""


@pytest.fixture
def at_once(cores: frozenset[int]) -> Iterator[None]:
    """Give pin and lane cores of their own."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    yield
    os.sched_setaffinity(0, own)


@pytest.mark.parametrize(
    ("name", "follow"), [("cpu-twobank", ""), ("cpu-twobank", "8"), ("cpu-staging", "")]
)
@pytest.mark.usefixtures("at_once")
def test_two_boots_are_enough_for_every_map(lane: Lane, name: str, follow: str) -> None:
    """Also for a lane whose map follows traffic by itself."""
    lane = replace(lane, name=name)
    head, _, rest = lane.series.read_text().partition("[equality]\n")
    _, image, rest = rest.partition("[image]\n")
    follows = f'moe_follow = "{follow}"\n' if follow else ""
    lane.series.write_text(f"{head.rstrip()}\n{follows}\n{SMALL}\n{image}{rest}")
    assert lane.run("build", name) == 0
    assert lane.run("equal", name, "--boots", "2") == 0
    (record,) = lane.records()
    equality = record["equality"]
    assert (record["verdict"], record["boots"]["offline"]) == ("passed", None)
    assert record["environment"]["vllm"].startswith("0.32.0")
    assert (equality["cores"] is None) == (len(os.sched_getaffinity(0)) < 2)
    (mode,) = equality["modes"]
    assert mode["mode"] == "eager"
    rows = {row["arm"]: row for row in mode["rows"]}
    arms = ("self", "on", "swaps", "follows", "mapped")
    assert {*rows} == {"exchanged", *(f"{arm}{how}" for arm in arms for how in ("", ", 4 at once"))}
    for arm, row in rows.items():
        assert (row["equal"] == row["prompts"]) == (arm != "exchanged")
    facts = {
        arm: next(
            each["facts"]
            for each in equality["proofs"][f"eager.{arm}"]
            if "swapped" in each["facts"]
        )
        for arm in arms[1:]
    }
    # One engine: what it counts goes on, and what an arm swapped is its own.
    assert len({each["picks"] for each in facts.values()}) == len(facts)
    assert facts["swaps"]["swapped"] > 0
    assert facts["follows"]["swapped"] > 0
    assert facts["follows"]["decisions"] > 0
    assert facts["mapped"]["picks"] == 4 * facts["on"]["picks"]
