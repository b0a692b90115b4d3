"""The hook in vLLM's prefetching offloader: laid into the releases around the pin, and a boot of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model
from tests.engine.conftest import Lane, copied
from tests.engine.lane_python import INSIDE, Laid

pytestmark = pytest.mark.engine

CHECKS = (
    "a_layers_parameters_are_one_batch",
    "a_capture_gets_a_copy_for_each",
    "another_layout_is_copied_by_torch",
    "without_a_storage_nothing_is_copied",
)
HOOK = '[[entry]]\npatch = "own/prefetch-batched-copies.patch"\n\n'
OVERLAY = '[[entry]]\noverlay = "expert_bank"\n'
ONLOAD = (
    "every_dense_tensor_goes_in_one_batch",
    "a_driver_gets_small_and_large_apart",
    "unlike_layouts_are_copied_by_torch",
    "gaps_of_a_buffer_are_left_alone",
    "a_captured_copy_is_torchs_own",
    "nothing_is_asked_of_no_pair",
    "a_copy_that_is_short_is_an_error_and_not_counted",
    "buffers_that_meet_are_refused",
    "what_the_driver_refuses_is_not_swallowed",
)


@pytest.fixture(scope="module", params=["0.30.0", "0.31.0", "0.32.0"])
def hooked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """By check, why it failed."""
    folder = tmp_path_factory.mktemp("hooked")
    lane = copied(folder / "project")
    if request.param != "0.32.0":
        lane.pin(request.param)
    lane.replace(OVERLAY, HOOK + OVERLAY)
    project, places = Project.find(lane.root), Places.of_user()
    build(project, places, lane.name)
    laid = lay_lane(project, places, lane.name)
    return Laid(laid, served_model(places, laid.env, laid.model).folder).failures(
        "prefetch_hook.py", folder=folder
    )


@pytest.mark.parametrize("check", CHECKS)
def test_hook(hooked: dict[str, str | None], check: str) -> None:
    assert hooked[check] is None


def test_every_check_of_the_hook_is_told(hooked: dict[str, str | None]) -> None:
    assert set(hooked) == set(CHECKS), INSIDE / "prefetch_hook.py"


def test_onload(laid: Callable[[str], Laid], tmp_path: Path) -> None:
    failures = laid("0.32.0").failures("onload.py", folder=tmp_path)
    assert failures == dict.fromkeys(ONLOAD)


def test_a_hook_that_nothing_enters_fails_the_boot_by_its_name(
    lane: Lane, capfd: pytest.CaptureFixture[str]
) -> None:
    """The patched offloader is loaded, and no layer is offloaded on a CPU."""
    lane.replace(OVERLAY, HOOK + OVERLAY)
    assert lane.run("build") == 0
    assert lane.run("boot", "--no-server") == 5
    err = capfd.readouterr().err
    assert "prefetch.copy is carried and proves nothing" in err
    assert "offload_backend" in err
