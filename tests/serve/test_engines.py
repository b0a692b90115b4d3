"""One arm after another, each a fork of one process."""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.boot import EXTENSION
from lanewright.serve.child import BootError
from lanewright.serve.engines import Arm, run_arms
from lanewright.serve.environment import LaneEnv
from tests.serve.stand_in import lay_stand_in

LONG = "A prompt of more than sixteen tokens, so that a block of it is cached."


def arm(name: str, *prompts: str, **wanted: Any) -> Arm:  # noqa: ANN401
    settings: dict[str, Any] = {"engine": {}, "prompts": prompts or ("A", "B"), "max_tokens": 8}
    return Arm(name=name, **settings | wanted)


def run(env: LaneEnv, folder: Path, *arms: Arm, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    return run_arms(env, folder / "model", arms, folder, name="some", **more)


def test_vllm_is_imported_once_and_no_arm_sees_what_another_left(tmp_path: Path) -> None:
    found = run(lay_stand_in(tmp_path), tmp_path, arm("one"), arm("two"), arm("three"))
    assert (tmp_path / "some.log").read_text().count("vLLM is imported") == 1
    texts = [[answer["text"] for answer in each["completions"]] for each in found]
    assert texts == [["8 tokens of engine 1"] * 2] * 3
    assert len({each["seconds"]["import"] for each in found}) == 1


def test_each_arm_has_its_own_engine_prompts_and_length(tmp_path: Path) -> None:
    engine = {"worker_extension_cls": EXTENSION, "tensor_parallel_size": 2}
    one, two = run(
        lay_stand_in(tmp_path),
        tmp_path,
        arm("one", "A", max_tokens=3),
        arm("two", "B", "C", max_tokens=5, engine=engine, workers=True),
    )
    assert [(answer["prompt"], len(answer["ids"])) for answer in one["completions"]] == [("A", 3)]
    assert [(a["prompt"], len(a["ids"])) for a in two["completions"]] == [("B", 5), ("C", 5)]
    assert (one["status"], one["usage"], len(two["status"])) == ([], [], 2)
    assert two["usage"] == [None, None]


def test_an_engine_of_another_tree_is_a_mismatch(tmp_path: Path) -> None:
    other = lay_stand_in(tmp_path)
    (tmp_path / "python").write_text(
        f'#!/bin/sh\nPYTHONPATH={other.site}\nexport PYTHONPATH\nexec {sys.executable} -S "$@"\n'
    )
    env = LaneEnv(other.python, tmp_path / "tree", other.bytecode)
    with pytest.raises(MismatchError, match=r"imported vLLM from .*, which is not in the tree"):
        run(env, tmp_path, arm("one"))


def test_spec_log_and_results_stay_in_the_folder(tmp_path: Path) -> None:
    found = run(lay_stand_in(tmp_path), tmp_path, arm("one"), arm("two"))
    kept = {path.name for path in tmp_path.glob("some.*")}
    assert kept == {"some.spec.json", "some.log", "some.one.json", "some.two.json"}
    spec = json.loads((tmp_path / "some.spec.json").read_text())
    assert [each["name"] for each in spec["arms"]] == ["one", "two"]
    assert json.loads((tmp_path / "some.two.json").read_text()) == found[1]


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ({"dies": True}, "some ended with exit status 1 in arm two;"),
        ({"killed": 11}, "some was ended by SIGSEGV in arm two;"),
    ],
)
def test_an_arm_that_fails_is_named_and_is_the_last(
    tmp_path: Path, lie: dict[str, Any], told: str
) -> None:
    arms = (arm("one"), arm("two", engine={"lies": lie}), arm("three"))
    with pytest.raises(BootError) as caught:
        run(lay_stand_in(tmp_path), tmp_path, *arms)
    assert str(caught.value).startswith(told)
    assert caught.value.hint == f"read {tmp_path / 'some.log'}"
    assert {path.name for path in tmp_path.glob("some.*.json")} == {
        "some.spec.json",
        "some.one.json",
    }
    log = (tmp_path / "some.log").read_text()
    assert "arm two: failed" in log
    assert "arm three" not in log


def test_a_process_that_fails_after_every_arm_blames_none(tmp_path: Path) -> None:
    with pytest.raises(BootError, match=r"^some ended with exit status 3; the end of"):
        run(lay_stand_in(tmp_path, lies={"late": 3}), tmp_path, arm("one"), arm("two"))
    assert len([*tmp_path.glob("some.*.json")]) == 3


def test_what_is_asked_for_beside_the_lanes_environment_reaches_vllm(tmp_path: Path) -> None:
    run(lay_stand_in(tmp_path), tmp_path, arm("one"), environ={"VLLM_OF_THIS_TEST": "yes"})
    log = (tmp_path / "some.log").read_text()
    assert "'VLLM_OF_THIS_TEST': 'yes'" in log
    assert "'VLLM_ENABLE_V1_MULTIPROCESSING': '0'" in log


def test_a_stop_token_is_passed_over(tmp_path: Path) -> None:
    few = arm("few", max_tokens=40, engine={"lies": {"vocabulary": 3}})
    (found,) = run(lay_stand_in(tmp_path), tmp_path, few)
    for answer in found["completions"]:
        assert len(answer["ids"]) == 40
        assert 0 in answer["ids"][:-1]


def test_an_exact_arm_keeps_the_bits_of_every_logprob(tmp_path: Path) -> None:
    plain, exact = run(lay_stand_in(tmp_path), tmp_path, arm("plain"), arm("exact", exact=True))
    for rough, answer in zip(plain["completions"], exact["completions"], strict=True):
        assert {*answer} - {*rough} == {"bits", "likeliest"}
        assert answer["ids"] == rough["ids"]
        places = zip(answer["ids"], answer["bits"], answer["likeliest"], strict=True)
        for token, bits, ((likeliest, logprob), (_, second)) in places:
            assert likeliest == token
            assert bits == logprob
            assert number(second) < number(logprob)


def number(bits: int) -> float:
    (found,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(found)


def test_exchanged_rows_are_answered_after_and_beside_the_true_ones(tmp_path: Path) -> None:
    arms = (arm("plain", exact=True), arm("exchanged", exact=True, exchange=True))
    plain, other = run(lay_stand_in(tmp_path), tmp_path, *arms)
    assert plain["exchange"] is None
    assert other["completions"] == plain["completions"]
    assert other["exchange"]["layer"] == "model.layers.1.mlp.experts"
    assert other["exchange"]["completions"] != plain["completions"]


def test_both_passes_of_an_exchange_say_how_far_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = [f"prompt {number}" for number in range(11)]
    run(lay_stand_in(tmp_path), tmp_path, arm("one", *prompts, exact=True, exchange=True))
    said = capsys.readouterr().err
    assert said.count("some: arm one: 11 of 11 prompts (") == 1
    assert said.count("some: arm one: 11 of 11 prompts, rows exchanged (") == 1


def test_cached_tokens_are_told(tmp_path: Path) -> None:
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("one", LONG, LONG))
    assert [each["cached_tokens"] for each in found["completions"]] == [0, len(LONG) // 16 * 16]
    engine = {"enable_prefix_caching": False}
    (found,) = run(lay_stand_in(tmp_path), tmp_path, arm("two", LONG, LONG, engine=engine))
    assert [each["cached_tokens"] for each in found["completions"]] == [0, 0]
