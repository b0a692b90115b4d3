"""Both boots against a stand-in for vLLM: real processes, a real server, no engine."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.project import Device
from lanewright.serve.boot import EXTENSION, PROMPTS, WORKERS, engine_arguments
from lanewright.serve.child import BootError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.length import LEAST
from lanewright.serve.offline import OfflineBoot, boot_offline
from lanewright.serve.server import ServerBoot, boot_server
from tests.serve.stand_in import lay_stand_in

ON: Mapping[str, object] = {"moe_usage_counter": True}
BANKS: Mapping[str, object] = {"moe_hot_experts": "5"}
PROMPT_TOKENS = [len(prompt.encode()) for prompt in PROMPTS]
TOKENS = sum(PROMPT_TOKENS) + len(PROMPTS) * (LEAST - 1)
Boot = Callable[[LaneEnv, Mapping[str, object], Path], OfflineBoot | ServerBoot]


def offline(env: LaneEnv, engine: Mapping[str, object], folder: Path) -> OfflineBoot:
    return boot_offline(env, folder / "model", engine, folder, device="cpu")


def server(env: LaneEnv, engine: Mapping[str, object], folder: Path) -> ServerBoot:
    return boot_server(env, folder / "model", engine, folder, device="cpu")


both = pytest.mark.parametrize("boot", [offline, server])


def test_offline_boot_answers_and_proves(tmp_path: Path) -> None:
    found = offline(lay_stand_in(tmp_path), ON, tmp_path)
    assert (found.vllm, found.torch) == ("9.9.9", "9.9.9+cpu")
    assert found.vllm_file == str(tmp_path / "site" / "vllm" / "__init__.py")
    assert [each.prompt for each in found.completions] == [*PROMPTS]
    assert [each.prompt_tokens for each in found.completions] == PROMPT_TOKENS
    assert all(len(each.ids) == LEAST for each in found.completions)
    assert [(each["plugin"], each["moe_usage_counter"]) for each in found.status] == [(True, True)]
    assert [*found.seconds] == ["import", "engine", "generate"]


@both
def test_on_is_proven_with_its_numbers(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path), ON, tmp_path)
    (proof,) = found.proofs
    assert (proof.feature, proof.on) == ("moe_usage_counter", True)
    assert (proof.facts["tokens"], proof.facts["picks"]) == (TOKENS, TOKENS * 2 * 3)
    (usage,) = found.usage
    assert usage
    assert sum(map(sum, usage["counts"])) == proof.facts["picks"]
    assert found.status[0]["experts"] == ["expert_bank.glue.experts.CountedExperts"]


@both
def test_two_banks_are_proven_with_their_numbers(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path), {**BANKS, **ON}, tmp_path)
    counter, banks = found.proofs
    assert (counter.feature, banks.feature) == ("moe_usage_counter", "moe_hot_experts")
    assert banks.facts["hot_picks"] + banks.facts["cold_picks"] == TOKENS * 2 * 3
    assert counter.facts["picks"] == banks.facts["picks"] == TOKENS * 2 * 3
    assert banks.facts["cold_picks"] > 0
    assert (banks.facts["hot_rows"], banks.facts["swaps"]) == (15, 0)
    assert found.status[0]["experts"] == ["expert_bank.glue.experts.BankedExperts"]


@both
def test_two_banks_count_without_the_counter(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path), BANKS, tmp_path)
    assert [proof.feature for proof in found.proofs] == ["moe_hot_experts"]
    (usage,) = found.usage
    assert usage
    assert sum(map(sum, usage["counts"])) == TOKENS * 2 * 3


def test_two_banks_answer_as_one(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    answers = {offline(env, engine, tmp_path).completions for engine in ({}, ON, BANKS)}
    assert len(answers) == 1
    assert server(env, BANKS, tmp_path).completions in answers


@both
def test_off_is_proven(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path), {}, tmp_path)
    (proof,) = found.proofs
    assert (proof.feature, proof.on, found.usage) == ("moe_usage_counter", False, (None,))
    (worker,) = found.status
    assert [name.partition(".")[0] for name in worker["experts"]] == ["vllm"]
    assert not worker["ops"]


@both
def test_every_worker_is_asked(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path), {**ON, "tensor_parallel_size": 2}, tmp_path)
    assert (len(found.status), len(found.usage)) == (2, 2)
    assert found.proofs[0].facts["workers"] == 2


def test_the_server_answers_as_offline_does(tmp_path: Path) -> None:
    env = lay_stand_in(tmp_path)
    served, found = server(env, ON, tmp_path), offline(env, ON, tmp_path)
    assert served.completions == found.completions
    assert (served.usage, served.proofs) == (found.usage, found.proofs)


@both
def test_a_lane_without_the_overlay_boots_and_proves_nothing(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path, bank=False), {}, tmp_path)
    assert (found.status, found.usage, found.proofs) == ((), (), ())
    assert len(found.completions) == len(PROMPTS)


@both
def test_an_overlay_without_its_hook_patch_is_off(boot: Boot, tmp_path: Path) -> None:
    found = boot(lay_stand_in(tmp_path, hook=False), {}, tmp_path)
    assert found.status[0]["moe_usage_counter"] is None
    assert [proof.on for proof in found.proofs] == [False]


@both
@pytest.mark.parametrize("engine", [ON, BANKS])
def test_a_feature_that_nothing_can_prove_is_a_mismatch(
    boot: Boot, tmp_path: Path, engine: Mapping[str, object]
) -> None:
    (name,) = engine
    with pytest.raises(MismatchError, match=f"{name} is asked for, and without the"):
        boot(lay_stand_in(tmp_path, bank=False), engine, tmp_path)


@both
def test_a_plugin_that_vllm_did_not_load_is_a_mismatch(boot: Boot, tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match="expert_bank is on the path, but"):
        boot(lay_stand_in(tmp_path, plugin=False), ON, tmp_path)


@both
@pytest.mark.parametrize(
    ("engine", "lies", "told"),
    [
        (ON, {"counter": False}, r"asked to be True, and worker \d+ has False"),
        (ON, {"more_picks": 1}, f"counted {TOKENS * 6 + 1} picks, and {TOKENS} scheduled"),
        (ON, {"times": 0}, "counted no pick at all"),
        (ON, {"more_tokens": -1}, f"{TOKENS - 1} scheduled tokens x 2 experts x 3 layers are"),
        (ON, {"uncounted": 2}, rf"was scheduled \d+ tokens, and by the answers .* are {TOKENS}$"),
        (ON, {"foreign": True}, r"counts nothing, its MoE layers are vllm\.model_executor"),
        ({}, {"counter": True}, r"asked to be False, and worker \d+ has True"),
        ({}, {"replaced": True}, r"is not vLLM's own: its MoE layers are expert_bank\."),
        ({}, {"op": True}, "op registered: True; counting: False"),
    ],
)
def test_a_lie_is_a_mismatch_that_says_which(
    boot: Boot, tmp_path: Path, engine: Mapping[str, object], lies: dict[str, Any], told: str
) -> None:
    with pytest.raises(MismatchError) as caught:
        boot(lay_stand_in(tmp_path, lies=lies), engine, tmp_path)
    message = str(caught.value)
    assert re.search(told, message), message
    assert message.startswith(f"{boot.__name__} boot: moe_usage_counter")


@both
@pytest.mark.parametrize(
    ("engine", "lies", "told"),
    [
        (BANKS, {"resident": True}, r"on and proves nothing: worker \d+ has all experts resident"),
        (BANKS, {"hot": ""}, r"was asked to be True, and worker \d+ has $"),
        (BANKS, {"more_hot": 1}, rf": worker \d+ served .* picks, and {TOKENS * 6} were counted"),
        (BANKS, {"never_cold": True}, "no pick was served from the cold bank"),
        (
            BANKS,
            {"wrong": [0, 7]},
            r"has rows that are wrong:\n  model\.layers\.0\.mlp\.experts, expert 7: cold row 7 of w13 ",
        ),
        (ON, {"banked": "5"}, r"is off, and worker \d+ serves from two banks"),
        ({}, {"hot": "5"}, r"was asked to be False, and worker \d+ has 5"),
    ],
)
def test_a_lie_of_two_banks_is_a_mismatch_that_says_which(
    boot: Boot, tmp_path: Path, engine: Mapping[str, object], lies: dict[str, Any], told: str
) -> None:
    with pytest.raises(MismatchError) as caught:
        boot(lay_stand_in(tmp_path, lies=lies), engine, tmp_path)
    message = str(caught.value)
    assert re.search(told, message), message
    assert message.startswith(f"{boot.__name__} boot: moe_hot_experts")


@both
def test_an_engine_that_dies(boot: Boot, tmp_path: Path) -> None:
    with pytest.raises(BootError, match="ended with exit status 1") as caught:
        boot(lay_stand_in(tmp_path, lies={"dies": True}), {}, tmp_path)
    assert "the stand-in engine was told to die" in str(caught.value)
    assert str(tmp_path / f"{boot.__name__}.log") in str(caught.value)
    assert "in arm" not in str(caught.value).partition("\n")[0]


@pytest.mark.parametrize(("boot", "told"), [(offline, "no_such_thing"), (server, "--no-such-")])
def test_an_unknown_engine_argument_is_named(boot: Boot, told: str, tmp_path: Path) -> None:
    with pytest.raises(BootError, match=told):
        boot(lay_stand_in(tmp_path), {"no_such_thing": True}, tmp_path)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_worker_is_ours_only_where_a_feature_is_on(tmp_path: Path, device: Device) -> None:
    env = lay_stand_in(tmp_path)
    assert engine_arguments(env, {}, device) == {"worker_extension_cls": EXTENSION}
    on = engine_arguments(env, ON, device)
    assert on == {"worker_extension_cls": EXTENSION, "worker_cls": WORKERS[device], **ON}
    banks = engine_arguments(env, BANKS, device)
    assert banks == {"worker_extension_cls": EXTENSION, "worker_cls": WORKERS[device], **BANKS}
    for feature in ({"moe_usage_counter": False}, {"moe_hot_experts": ""}):
        assert "worker_cls" not in engine_arguments(env, feature, device)
    assert engine_arguments(env, {**ON, "worker_cls": "x.Y"}, device)["worker_cls"] == "x.Y"


def test_without_the_overlay_no_worker_is_named(tmp_path: Path) -> None:
    assert engine_arguments(lay_stand_in(tmp_path, bank=False), ON, "cpu") == ON


@both
@pytest.mark.parametrize("name", ["hf_overrides", "load_format", "quantization", "tokenizer"])
def test_what_would_serve_another_model_is_refused(boot: Boot, tmp_path: Path, name: str) -> None:
    with pytest.raises(LanewrightError, match=f"{name} would make another model"):
        boot(lay_stand_in(tmp_path), {name: "dummy"}, tmp_path)


@both
@pytest.mark.parametrize("value", ["false", 1, 0, [], None])
def test_a_feature_is_on_or_off(boot: Boot, tmp_path: Path, value: object) -> None:
    with pytest.raises(LanewrightError, match="and must be true or false"):
        boot(lay_stand_in(tmp_path), {"moe_usage_counter": value}, tmp_path)


@both
@pytest.mark.parametrize(
    ("name", "value", "valid"),
    [
        ("moe_hot_experts", 12, 'a text, such as "295" or "fit:200GiB"'),
        ("moe_hot_experts", True, 'a text, such as "295" or "fit:200GiB"'),
        ("moe_hot_experts", [12, 16], 'a text, such as "295" or "fit:200GiB"'),
        ("moe_cold_rows", False, "a text"),
        ("moe_boot_map", {"first": 1}, "a text"),
    ],
)
def test_a_setting_of_the_banks_is_a_text(
    boot: Boot, tmp_path: Path, name: str, value: object, valid: str
) -> None:
    with pytest.raises(LanewrightError) as caught:
        boot(lay_stand_in(tmp_path), {name: value}, tmp_path)
    assert str(caught.value) == f"engine argument {name} is {value!r}, and must be {valid}"
    assert caught.value.hint == "mend it in the lane's series"
    assert not [*tmp_path.glob("*.log")], "an engine was started"


@both
def test_the_boots_own_arguments_are_refused(boot: Boot, tmp_path: Path) -> None:
    with pytest.raises(LanewrightError, match="engine argument model, port"):
        boot(lay_stand_in(tmp_path), {"port": 1, "model": "x"}, tmp_path)
