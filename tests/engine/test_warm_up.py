"""A warm-up that runs whole steps is not counted, and counting goes on behind it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine


def test_steps_of_a_warm_up_are_not_counted(laid: Callable[[str], Laid], tmp_path: Path) -> None:
    jobs = [{"name": "warm_up", "engine": {}}]
    found = laid("0.32.0").run_jobs("warm_up.py", jobs, folder=tmp_path)["warm_up"]
    assert found["answer"] == "seconds"
    assert found["warm"] == [0, 0]
    assert found["step"] == [3, 3 * 4]
    assert found["after"] == [5, 5 * 4]
    ended = ["warming ended", "shut ended"]
    assert found["staging"] == ["shut", "warming", *ended, "checked"]
