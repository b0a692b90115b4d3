"""A carried hunk in a file that the serving engine never loads: found at the boot, by name.

That is the proof of effect's work; `tests/serve/test_proof.py` has every way in which it fails, and
`tests/engine` boots real engines with and without the hook patch.
"""

from pathlib import Path

import pytest

from lanewright.errors import ExitCode, MismatchError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from lanewright.serve.features import FEATURES
from lanewright.serve.proof import PATCHES, prove

ENGINES = ({"moe_usage_counter": True}, {"moe_hot_experts": "12"})


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: next(iter(engine)))
@pytest.mark.parametrize("seen", [False, None], ids=["loaded without it", "not known to it"])
def test_silent_no_op_fails_the_boot_by_name(
    tmp_path: Path,
    seen: bool | None,  # noqa: FBT001
    engine: dict[str, object],
) -> None:
    (name,) = engine
    (tmp_path / "site/expert_bank").mkdir(parents=True)
    lane = LaneEnv(tmp_path / "python", tmp_path / "site", tmp_path / "pyc")
    worker = {
        "plugin": True,
        "pid": 42,
        "ops": True,
        "experts": ["vllm.Experts"],
        "prefetch_copies": None,
    }
    has = dict.fromkeys(FEATURES, False) | {name: seen}
    evidence = Evidence(({**worker, **has},), ({},), (), banks=({},))
    with pytest.raises(MismatchError) as caught:
        prove(lane, engine, evidence, "the server")
    assert caught.value.exit_code == ExitCode.MISMATCH
    assert f"{name} was asked to be True, and worker 42 has {seen}" in str(caught.value)
    assert PATCHES[name] in (caught.value.hint or "")
