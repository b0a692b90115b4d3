"""Whole comparisons of stand-ins whose experts are in two banks, honest and lying."""

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.child import BootError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.asked import Asked
from lanewright.serve.equality.compare import Row
from lanewright.serve.equality.run import Equality, equality
from lanewright.serve.equality.told import lines, proven
from tests.serve.equality.fresh import TREE, fresh
from tests.serve.stand_in import lay_pin, lay_stand_in

BANKS: Mapping[str, object] = {"moe_hot_experts": "5"}
ASKED = Asked(prompts=20, tokens=24, together=(16,))
# The third prompt, asked alone, and once more behind the twenty.
ALONE, AT_ONCE = [3, 17], [23, 17]
ROWS = [
    f"{arm}{how}"
    for arm in ("self", "off", "on", "swaps", "follows", "mapped")
    for how in ("", ", 16 at once")
]


def compared(
    folder: Path,
    lane: LaneEnv,
    asked: Asked = ASKED,
    *,
    pin: Mapping[str, Any] | None = None,
    boots: int | None = None,
) -> Equality:
    with ExitStack() as after_record:
        return equality(
            lay_pin(folder / "pin", **(pin or {})),
            lane,
            baseline=TREE,
            model=folder / "model",
            engine=BANKS,
            folder=folder / "equality",
            device="cpu",
            modes=("eager",),
            resuming=fresh(folder),
            after_record=after_record,
            asked=asked,
            boots=boots,
        )


def rows(found: Equality) -> dict[str, Row]:
    return {row.arm: row for row in found.modes[0].rows}


def found_by(folder: Path, arm: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"equality/lane.eager.{arm}.json").read_text())
    return found


def refused(folder: Path, *, boots: int | None = None, **lies: Any) -> str:  # noqa: ANN401
    with pytest.raises(MismatchError) as caught:
        compared(folder, lay_stand_in(folder, lies=lies), boots=boots)
    return str(caught.value)


def test_an_honest_lane_is_equal_alone_and_at_once(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path))
    assert (found.verdict, found.modes[0].why) == ("equal", "")
    assert [*rows(found)] == [*ROWS[:2], "exchanged", *ROWS[2:]]
    for name in ROWS:
        row = rows(found)[name]
        assert row.role == ("control" if name.startswith("self") else "arm")
        assert row.equal == row.prompts == 20
    assert rows(found)["exchanged"].equal < 20
    log = (tmp_path / "equality" / "lane.log").read_text()
    assert [int(n) for n in re.findall(r"^(\d+) prompts at once$", log, re.MULTILINE)] == [
        16,
        4,
    ] * 5


def test_each_arm_proves_what_it_is_there_for(tmp_path: Path) -> None:
    proofs = compared(tmp_path, lay_stand_in(tmp_path)).proofs
    assert {name: proof.feature for name, (proof,) in proofs.items()} == {
        "eager.off": "moe_usage_counter",
        **dict.fromkeys(
            ("eager.on", "eager.swaps", "eager.follows", "eager.mapped"), "moe_hot_experts"
        ),
    }
    assert not proofs["eager.off"][0].on
    (on,), (swaps,), (follows,), (mapped,) = (
        proofs[f"eager.{arm}"] for arm in ("on", "swaps", "follows", "mapped")
    )
    assert on.facts["swaps"] == mapped.facts["swaps"] == 0
    assert swaps.facts["swaps"] > 0
    assert swaps.facts["bytes"] > 0
    assert len({each.facts["picks"] for each in (on, swaps, follows, mapped)}) == 1
    assert follows.facts["swaps"] > 0
    assert [each.facts["follows"] for each in (on, swaps, follows, mapped)] == [0, 0, 1, 0]
    # By the first arm's own counts, the map that is handed on serves no fewer from the hot bank.
    assert mapped.facts["hot_picks"] > on.facts["hot_picks"]


def test_the_map_that_is_handed_on_holds_what_was_counted(tmp_path: Path) -> None:
    compared(tmp_path, lay_stand_in(tmp_path))
    (usage,) = found_by(tmp_path, "on")["usage"]
    assert json.loads((tmp_path / "equality" / "eager.usage.json").read_text()) == {
        "schema": 1,
        "model": usage["model"],
        "layers": dict(zip(usage["layers"], usage["counts"], strict=True)),
    }
    assert found_by(tmp_path, "mapped")["banks"][0]["swaps"] == 0


def test_a_lane_that_differs_only_at_once_is_named_so(tmp_path: Path) -> None:
    lies = {"flip": {"place": AT_ONCE, "what": "logprob", "only_on": True}}
    found = compared(tmp_path, lay_stand_in(tmp_path, lies=lies))
    assert found.verdict == "differs"
    different = [name for name, row in rows(found).items() if row.first]
    at_once = [f"{arm}, 16 at once" for arm in ("on", "swaps", "follows", "mapped")]
    assert different == ["exchanged", *at_once]
    first = rows(found)["on, 16 at once"].first
    assert first
    assert (first.number, first.index, first.what) == (3, 17, "logprob")


def test_a_baseline_that_differs_from_itself_only_at_once_shows_nothing(tmp_path: Path) -> None:
    unsteady = {"unsteady": 21}
    found = compared(tmp_path, lay_stand_in(tmp_path, lies=unsteady), pin=unsteady)
    assert found.verdict == "inconclusive"
    assert rows(found)["self, 16 at once"].equal == 19
    assert "the baseline differs from itself in 1 answers" in found.modes[0].why


def test_what_was_cached_shows_nothing_though_only_the_second_pass_took_it(tmp_path: Path) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path, lies={"caches": True}))
    assert found.verdict == "inconclusive"
    passes = found_by(tmp_path, "on")
    alone, at_once = (
        sum(each["cached_tokens"] for each in answers)
        for answers in (passes["completions"], passes["together"]["16"])
    )
    assert alone < at_once
    assert f"eager.on took {alone + at_once} tokens from a cache" in found.modes[0].why


@pytest.mark.parametrize(
    ("lies", "told"),
    [
        ({"swapless": True}, "equality, eager.swaps: swaps were asked for, and none was made"),
        (
            {"unfollowed": True},
            "equality, eager.follows: the map was to follow traffic, and did not",
        ),
        ({"unmoved": True}, r"equality, eager.swaps: moe_hot_experts: .* and moved nothing"),
        (
            {"failing": 2},
            r"equality, eager.swaps: moe_hot_experts: .*: 2 swaps failed:\n(  a copy was told to .*\n){2}",
        ),
        ({"never_cold": True}, "equality, eager.on: .* no pick was served from the cold bank"),
        ({"more_hot": 1}, r"equality, eager.on: .* hot and \d+ cold picks, and \d+ were counted"),
    ],
)
def test_equal_answers_do_not_help_a_lane_that_proves_the_wrong_thing(
    tmp_path: Path, lies: dict[str, Any], told: str
) -> None:
    message = refused(tmp_path, **lies)
    assert re.match(told, message), message
    assert message.endswith("\n  every answer is the baseline's all the same")


@pytest.mark.parametrize("lies", [{"resident": True}, {"hot": ""}])
def test_where_nothing_can_be_swapped_the_arm_says_so(tmp_path: Path, lies: dict[str, Any]) -> None:
    with pytest.raises(BootError, match=r"in arm eager\.swaps;") as caught:
        compared(tmp_path, lay_stand_in(tmp_path, lies=lies))
    assert "all experts are resident: moe_hot_experts is not set" in str(caught.value)


def test_wrong_rows_are_named_behind_the_answers_that_they_changed(tmp_path: Path) -> None:
    message = refused(tmp_path, torn=1)
    head, less, *told = [line for line in message.splitlines() if "at once, each on" not in line]
    assert head == "equality with its baseline: differs"
    assert less.startswith("  asked for less than by default: ")
    assert told[0].startswith("  eager: differs (swaps, ")
    assert "    on: 20/20 equal" in told
    swaps = next(number for number, line in enumerate(told) if line.startswith("    swaps: "))
    assert re.match(r"      prompt \d+ .*, index \d+: .* \(top-2 gap ", told[swaps + 1])
    wrong = next(number for number, line in enumerate(told) if line.startswith("equality, "))
    assert re.fullmatch(
        r"equality, eager\.swaps: moe_hot_experts: worker \d+ has rows that are wrong:", told[wrong]
    )
    (banks,) = found_by(tmp_path, "swaps")["banks"]
    assert told[wrong + 1 :] == [f"  {row}" for row in banks["audit"]]
    row = r"model\.layers\.1\.mlp\.experts, expert \d: hot row \d of w2 is not what was loaded"
    assert banks["audit"]
    assert all(re.fullmatch(row, each) for each in banks["audit"])


def test_wrong_rows_that_changed_no_answer_are_a_mismatch_too(tmp_path: Path) -> None:
    lane = lay_stand_in(tmp_path, lies={"wrong": [2, 7]})
    asked = Asked(prompts=1, tokens=1, distinct=1)
    with pytest.raises(MismatchError) as caught:
        compared(tmp_path, lane, asked)
    assert re.fullmatch(
        r"equality, eager\.on: moe_hot_experts: worker \d+ has rows that are wrong:\n"
        r"  model\.layers\.2\.mlp\.experts, expert 7: cold row 7 of w13 is not what was loaded\n"
        r"  every answer is the baseline's all the same",
        str(caught.value),
    )


def test_answers_that_differ_with_every_row_as_loaded_say_so(tmp_path: Path) -> None:
    lies = {"flip": {"place": ALONE, "what": "token", "only_on": True}}
    found = compared(tmp_path, lay_stand_in(tmp_path, lies=lies))
    assert found.verdict == "differs"
    told = [*proven(asdict(found))]
    assert [line.partition(":")[0] for line in told] == [
        f"eager.{arm}, moe_hot_experts" for arm in ("on", "swaps", "follows", "mapped")
    ]
    assert all("; every expert's row is as it was loaded; RowTable own" in line for line in told)
    assert "    prompt 3 " in "\n".join(lines(asdict(found)))


@pytest.mark.parametrize(("boots", "arms"), [(2, ROWS[4:]), (3, ROWS[2:])])
def test_one_engine_answers_for_every_map(tmp_path: Path, boots: int, arms: list[str]) -> None:
    found = compared(tmp_path, lay_stand_in(tmp_path), boots=boots)
    assert (found.verdict, found.modes[0].why) == ("equal", "")
    assert [*rows(found)] == [*ROWS[:2], "exchanged", *arms]
    assert all(rows(found)[name].equal == 20 for name in arms)
    assert rows(found)["exchanged"].equal < 20
    facts = {arm: proof[0].facts for arm, proof in found.proofs.items() if arm != "eager.off"}
    picks = facts["eager.on"]["picks"]
    assert [each["picks"] // picks for each in facts.values()] == [1, 2, 3, 4]
    assert [each["swapped"] > 0 for each in facts.values()] == [False, True, True, True]
    assert sum(each["swapped"] for each in facts.values()) == facts["eager.mapped"]["swaps"]
    log = (tmp_path / "equality" / "lane.log").read_text()
    assert log.count("starts, ") == boots - 1


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ("swapless", "equality, eager.swaps: swaps were asked for, and none was made"),
        ("idle", "equality, eager.follows: swaps were asked for, and none was made"),
        ("unfollowed", "equality, eager.follows: the map was to follow traffic, and did not"),
    ],
)
def test_what_an_arm_before_did_proves_nothing(tmp_path: Path, lie: str, told: str) -> None:
    assert refused(tmp_path, boots=2, **{lie: True}).splitlines()[0] == told
