"""The proof of prefetched batches, where the lane's offloader has our hook in it, and where not."""

from typing import Any

import pytest

from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from lanewright.serve.prefetching import HOOK, OFFLOADER, carries_hook
from lanewright.serve.proof import prove
from tests.serve.workers import off, on, refused, status

COPIED = {"batches": 3, "tensors": 7, "bytes": 4096, "captured": 1, "unlike": 2}


@pytest.fixture
def hooked(lane: LaneEnv) -> LaneEnv:
    """A lane whose offloader asks our overlay."""
    file = lane.site / OFFLOADER
    file.parent.mkdir(parents=True)
    file.write_bytes(b"import torch\nfrom " + HOOK + b" import onload\n")
    return lane


def copied(told: dict[str, int] | None, *, switched: bool = False) -> Evidence:
    worker: dict[str, Any] = {"prefetch_copies": told}
    return on(status=(status(on=True, **worker),)) if switched else off(**worker)


@pytest.mark.parametrize("switched", [False, True])
def test_it_is_proven_beside_what_is_switched(hooked: LaneEnv, *, switched: bool) -> None:
    engine = {"moe_usage_counter": True} if switched else {}
    first, proof = prove(hooked, engine, copied(COPIED, switched=switched), "a boot")
    assert first.feature == "moe_usage_counter"
    assert (proof.feature, proof.on, proof.facts) == ("prefetch.copy", True, COPIED)
    assert proof.text == (
        "7 tensors, 4096 bytes, prefetched in 3 batches; one by one 1 while captured, 2 of another"
        " layout"
    )


def test_without_the_hook_nothing_is_told(lane: LaneEnv) -> None:
    assert not carries_hook(lane)
    (proof,) = prove(lane, {}, copied(None), "a boot")
    assert proof.feature == "moe_usage_counter"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (None, "worker 42 did not load the offloader that patches/own/prefetch-batched-copies"),
        ({**COPIED, "bytes": 0}, "carried and proves nothing: worker 42 copied no tensor in a ba"),
    ],
)
def test_a_hook_that_did_nothing_fails(
    hooked: LaneEnv, told: dict[str, int] | None, why: str
) -> None:
    assert why in refused(hooked, {}, copied(told))


def test_a_hook_that_is_in_no_tree_fails(lane: LaneEnv) -> None:
    assert "copies through our hook, and the lane's tree has none" in refused(
        lane, {}, copied(COPIED)
    )
