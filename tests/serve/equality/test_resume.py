"""A comparison that was interrupted goes on behind the arms that it has finished."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.equality.told import lines
from tests.serve.equality.interrupting import ASKED, LANE, LATE, MAPLESS, PIN, Runs

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
COMMAND = "lanewright equal sample --resume"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs that were interrupted: one without its last arm, one with all that it was to do."""
    runs = Runs(tmp_path_factory.mktemp("before"))
    runs.interrupted("0 mapless", MAPLESS)
    runs.interrupted("0 late", LATE)
    return runs


@pytest.fixture
def mapless(before: Runs, tmp_path: Path) -> Runs:
    return before.elsewhere(tmp_path, "0 mapless")


@pytest.fixture
def late(before: Runs, tmp_path: Path) -> Runs:
    return before.elsewhere(tmp_path, "0 late")


def test_only_what_is_missing_is_booted_and_the_verdict_is_the_same(
    mapless: Runs, capfd: Capture
) -> None:
    found = mapless.compared("1", resume=True)
    assert mapless.booted("1") == ["eager.mapped"]
    told = f"resuming: 6 of 7 arms are taken: {', '.join([*PIN, *LANE[:4]])}\n"
    assert told in capfd.readouterr().err
    assert [*found.resumed] == [*PIN, *LANE[:4]]
    assert {each.run for each in found.resumed.values()} == {"0 mapless"}
    assert all(TIME.fullmatch(each.finished) for each in found.resumed.values())
    whole = mapless.compared("2")
    assert mapless.booted("2") == [*PIN, *LANE]
    assert not whole.resumed
    assert found.verdict == whole.verdict == "equal"
    assert found.modes == whole.modes
    assert [*found.proofs] == [*whole.proofs] == [*LANE]


def test_who_interrupts_it_is_told_what_is_kept_and_what_to_type(
    tmp_path: Path, capfd: Capture
) -> None:
    Runs(tmp_path).interrupted("1", MAPLESS)
    kept = f"6 of 7 arms are finished and kept; to go on behind them: {COMMAND}\n"
    assert kept in capfd.readouterr().err


def test_answers_that_were_taken_are_told_and_lie_beside_the_others(mapless: Runs) -> None:
    found = asdict(mapless.compared("1", resume=True))
    told = [line for line in lines(found) if line.startswith("resumed: ")]
    assert len(told) == 6
    time = found["resumed"]["eager.self"]["finished"]
    assert told[1] == f"resumed: eager.self is of run 0 mapless, finished {time}"
    for name in (f"pin.{arm}.json" for arm in PIN):
        taken, given = (mapless.answers(run) / name for run in ("1", "0 mapless"))
        assert taken.read_bytes() == given.read_bytes()


def test_nothing_is_taken_unless_it_is_asked_for(mapless: Runs, capfd: Capture) -> None:
    found = mapless.compared("1")
    assert not found.resumed
    assert "resumed" not in "\n".join(lines(asdict(found)))
    assert mapless.booted("1") == [*PIN, *LANE]
    told = "6 of 7 arms were finished by an interrupted run, and are booted again; to take them: "
    assert f"{told}{COMMAND}\n" in capfd.readouterr().err


def test_where_all_arms_are_finished_none_is_booted(late: Runs) -> None:
    found = late.compared("1", resume=True)
    assert late.booted("1") == []
    assert (found.verdict, [*found.resumed]) == ("equal", [*PIN, *LANE])


def test_a_run_may_be_interrupted_again_and_again(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    honest = runs.lane
    runs.lane = replace(honest, python=Path("/bin/false"))
    runs.interrupted("1")
    assert runs.noted() == [f"1 pin.{arm}" for arm in PIN]
    runs.lane = honest
    runs.interrupted("2", MAPLESS, resume=True)
    assert runs.booted("2") == [*LANE]
    found = runs.compared("3", resume=True)
    assert runs.booted("3") == ["eager.mapped"]
    assert [each.run for each in found.resumed.values()] == ["1", "1", "2", "2", "2", "2"]


@pytest.mark.parametrize("lies", [{}, {"flip": {"place": [2, 5], "what": "token"}}])
def test_a_comparison_that_came_to_its_end_leaves_nothing_to_take(
    mapless: Runs, capfd: Capture, lies: dict[str, Any]
) -> None:
    assert len(mapless.noted()) == 6
    assert mapless.compared("1", lies=lies).verdict == ("differs" if lies else "equal")
    assert mapless.noted() == []
    capfd.readouterr()
    assert not mapless.compared("2", resume=True).resumed
    assert mapless.booted("2") == [*PIN, *LANE]
    assert "nothing to resume: no earlier run has left a finished arm" in capfd.readouterr().err


def test_a_proof_that_fails_is_an_end_too(late: Runs) -> None:
    with pytest.raises(MismatchError):
        late.compared("1", lies={"never_cold": True})
    assert late.noted() == []


def test_an_end_in_one_mode_leaves_what_is_finished_in_the_other(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    both = replace(ASKED, modes=("eager", "compiled"))
    runs.interrupted("1", asked=both)
    runs.compared("2")
    assert runs.booted("2") == [*PIN, *LANE]
    left = {each.partition(" ")[2].partition(".")[2] for each in runs.noted()}
    assert left == {arm.replace("eager", "compiled") for arm in (*PIN, *LANE)}
    found = runs.compared("3", asked=both, resume=True)
    assert runs.booted("3") == [*PIN, *LANE]
    assert {*found.resumed} == left


def test_an_end_leaves_what_another_tree_has_finished(late: Runs) -> None:
    late.compared("1", tree="f" * 40)
    assert late.noted() == [f"0 late lane.{arm}" for arm in sorted(LANE)]
    late.compared("2")
    assert late.noted() == []


def test_what_ran_another_vllm_than_the_trees_is_not_kept_and_not_taken(
    tmp_path: Path, capfd: Capture
) -> None:
    runs = Runs(tmp_path)
    module = runs.lane.site / "vllm" / "__init__.py"
    honest = module.read_text()
    module.write_text(f'{honest}\n__file__ = "/elsewhere/vllm/__init__.py"\n')
    wrong = r"imported vLLM from /elsewhere/vllm/__init__\.py, which is not in the tree"
    with pytest.raises(MismatchError, match=wrong):
        runs.compared("1")
    assert "\n2 of 7 arms are finished and kept; " in capfd.readouterr().err
    with pytest.raises(MismatchError, match=wrong):
        runs.compared("2", resume=True)
    assert runs.booted("2") == [*LANE]
    module.write_text(honest)
    found = runs.compared("3", resume=True)
    assert (found.verdict, runs.booted("3")) == ("equal", [*LANE])


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def flipped(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"ids": [', b'"ids": [1', 1))


def remade(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def remake(file: Path) -> None:
        note = json.loads(file.read_bytes())
        change(note)
        file.write_text(json.dumps(note))

    return remake


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("lane.eager.off.json", cut),
        ("lane.eager.off.json", flipped),
        ("lane.eager.off.json", Path.unlink),
        ("lane.eager.off.finished.json", cut),
        ("lane.eager.off.finished.json", Path.unlink),
        ("lane.eager.off.finished.json", remade(lambda note: note.pop("key"))),
        ("lane.eager.off.finished.json", remade(lambda note: note.update(key="0" * 64))),
        ("lane.eager.off.finished.json", remade(lambda note: note.update(files={}))),
        ("lane.eager.off.finished.json", remade(lambda note: note.update(finished="yesterday"))),
    ],
)
def test_what_is_not_whole_is_booted_again(
    late: Runs, name: str, damage: Callable[[Path], None]
) -> None:
    damage(late.answers("0 late") / name)
    found = late.compared("1", resume=True)
    assert late.booted("1") == ["eager.off"]
    assert found.verdict == "equal"


@pytest.mark.parametrize("name", ["eager.usage.json", "lane.eager.on.json"])
def test_an_arm_whose_map_is_made_again_is_booted_again(late: Runs, name: str) -> None:
    cut(late.answers("0 late") / name)
    late.compared("1", resume=True)
    assert late.booted("1") == ["eager.on", "eager.mapped"]


def test_an_arm_that_started_from_another_map_is_booted_again(late: Runs) -> None:
    mapped = late.answers("0 late") / "lane.eager.mapped.finished.json"
    remade(lambda note: note.update(boot_map="2" * 64))(mapped)
    late.compared("1", resume=True)
    assert late.booted("1") == ["eager.mapped"]


def test_an_older_run_is_asked_where_the_newer_one_is_damaged(late: Runs) -> None:
    late.interrupted("1", MAPLESS)
    cut(late.answers("1") / "lane.eager.off.json")
    found = late.compared("2", resume=True)
    assert late.booted("2") == []
    of = {arm: each.run for arm, each in found.resumed.items()}
    older = dict.fromkeys(("eager.off", "eager.mapped"), "0 late")
    assert of == {**dict.fromkeys([*PIN, *LANE], "1"), **older}


def test_an_edit_of_the_lane_leaves_the_pins_answers_and_no_others(late: Runs) -> None:
    found = late.compared("1", resume=True, tree="f" * 40)
    assert [*found.resumed] == [*PIN]
    assert late.booted("1") == [*LANE]


def test_arms_of_an_engine_that_is_gone_are_answered_by_another(tmp_path: Path) -> None:
    """The first that is left boots it, with what the arm before kept for it."""
    runs = Runs(tmp_path)
    runs.interrupted("0 late", boots=2)
    for arm in ("swaps", "follows", "mapped"):
        (runs.answers("0 late") / f"lane.eager.{arm}.finished.json").unlink()
    found = runs.compared("1 resumed", resume=True, boots=2)
    assert found.verdict == "equal"
    assert [*found.resumed] == [*PIN, "eager.on"]
    assert runs.booted("1 resumed") == ["eager.swaps", "eager.follows", "eager.mapped"]
    facts = {arm: proof[0].facts for arm, proof in found.proofs.items()}
    assert facts["eager.swaps"]["picks"] == facts["eager.on"]["picks"]
    assert facts["eager.mapped"]["picks"] == 3 * facts["eager.on"]["picks"]
    assert not runs.noted()
