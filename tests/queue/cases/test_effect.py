"""A carried hunk in a file that the serving engine never loads: found at the boot, by name.

That is the proof of effect's work; `tests/serve/test_proof.py` has every way in which it fails, and
`tests/engine` boots real engines with and without the hook patch.
"""

from pathlib import Path

import pytest

from lanewright.errors import ExitCode, MismatchError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from lanewright.serve.proof import PATCHES, prove


@pytest.mark.parametrize("seen", [False, None], ids=["loaded without it", "not known to it"])
def test_silent_no_op_fails_the_boot_by_name(tmp_path: Path, seen: bool | None) -> None:  # noqa: FBT001
    (tmp_path / "site/expert_bank").mkdir(parents=True)
    lane = LaneEnv(tmp_path / "python", tmp_path / "site", tmp_path / "pyc")
    worker = {"plugin": True, "pid": 42, "ops": True, "experts": ["vllm.Experts"]}
    evidence = Evidence(({**worker, "moe_usage_counter": seen},), ({},), ())
    with pytest.raises(MismatchError) as caught:
        prove(lane, {"moe_usage_counter": True}, evidence, "the server")
    assert caught.value.exit_code == ExitCode.MISMATCH
    assert "moe_usage_counter was asked to be True, and worker 42 has" in str(caught.value)
    assert PATCHES["moe_usage_counter"] in (caught.value.hint or "")
