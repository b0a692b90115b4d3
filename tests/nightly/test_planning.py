"""What a failure of a night keeps from being tried."""

import pytest

from lanewright.nightly.booted import Booted
from lanewright.nightly.night import Step
from lanewright.nightly.planning import keeping


@pytest.mark.parametrize(
    ("name", "kept"), [("mirror", False), ("status", False), ("image", True), ("boot", True)]
)
def test_a_base_is_kept_of_a_lane_that_cannot_be_built(name: str, *, kept: bool) -> None:
    """Upstream may drop it before somebody has pinned what the lane waits for."""
    build = Step(name="build", command=[], lane="sample", verdict="failed", exit_code=1)
    step = Step(name=name, command=[], lane="sample")
    assert keeping(step, [build, step]) == (build if kept else None)


@pytest.mark.parametrize("name", ["window", "boot"])
def test_a_lane_that_boots_in_its_image_needs_that(name: str) -> None:
    build = Step(name="build", command=[], lane="sample", verdict="passed", exit_code=0)
    failed = Step(name="image", command=[], lane="sample", verdict="failed", exit_code=1)
    step = Step(name=name, command=[], lane="sample")
    window = Step(name="window", command=[], lane="sample", verdict="passed", exit_code=0)
    steps = [build, failed, window, step]
    assert keeping(step, steps, Booted(in_image=frozenset({"sample"}))) == failed
    assert keeping(step, steps, Booted(in_image=frozenset({"another"}))) is None
