"""What an image's answers are held against, read with no trust in what lies there."""

import json
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError
from lanewright.image.container.golden import Golden, golden
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.serve.served import Served

MODEL = Served(Path("/models/one"), None, "somebody/a-model", "1" * 64, "2" * 64)
ANSWER = {"prompt": "one", "ids": [1, 2]}
EXACT = {
    **ANSWER,
    "prompt_tokens": 1,
    "cached_tokens": 0,
    "text": "it",
    "bits": [1, 2],
    "likeliest": [[[1, 1], [2, 2]], [[1, 1], [2, 2]]],
}
SECONDS = {"import": 1.0, "engine": 2.0, "generate": 3.0}
AGAIN = "lanewright boot --equal sample"


def ran(places: Places, lock: Lock, at: str, **changed: object) -> Path:
    """Lay down what a run that passed leaves; the file with the pin's answers."""
    folder = places.state / "runs" / lock.lane / f"{at}-{lock.tree[:8]}"
    (folder / "equality").mkdir(parents=True)
    record: dict[str, Any] = {
        "tree": lock.tree,
        "verdict": "passed",
        "model": MODEL.record(),
        "boots": {"offline": {"completions": [ANSWER], "seconds": SECONDS}},
        "equality": {"verdict": "equal"},
    }
    (folder / "record.json").write_text(json.dumps(record | changed))
    baseline = folder / "equality" / "pin.eager.baseline.json"
    baseline.write_text(json.dumps({"completions": [EXACT], "seconds": SECONDS, "vllm": "1.1"}))
    return baseline


def of(places: Places, lock: Lock) -> Golden:
    return golden(places, lock, "eager", MODEL)


OLD, NEW = "20260102T000000Z", "20260103T000000Z"


def test_the_pins_answers_where_they_were_compared(places: Places, lock: Lock) -> None:
    baseline = ran(places, lock, NEW)
    found = of(places, lock)
    assert (found.run, found.exact, found.seconds) == (baseline.parents[1], True, SECONDS)
    assert found.completions == [EXACT]


def test_a_run_without_a_boot_of_its_own_is_passed_over(places: Places, lock: Lock) -> None:
    """A server is held against that boot; ``equal --boots`` has none."""
    whole = ran(places, lock, OLD)
    ran(places, lock, NEW, boots={"offline": None, "server": None})
    assert of(places, lock).run == whole.parents[1]


def test_the_lanes_where_they_were_not(places: Places, lock: Lock) -> None:
    ran(places, lock, NEW, equality=None)
    found = of(places, lock)
    assert (found.whose, found.exact, found.completions) == ("the lane's", False, [ANSWER])


@pytest.mark.parametrize(
    "content",
    [
        "",
        '{"completions": [{"pro',
        "[]",
        "{}",
        "[" * 100_000,
        json.dumps({"completions": [], "seconds": SECONDS}),
        json.dumps({"completions": [ANSWER], "seconds": SECONDS}),
        json.dumps({"completions": [EXACT], "seconds": [1]}),
    ],
)
def test_a_damaged_baseline_is_told(places: Places, lock: Lock, content: str) -> None:
    baseline = ran(places, lock, NEW)
    baseline.write_text(content)
    with pytest.raises(LanewrightError, match="is damaged: ") as error:
        of(places, lock)
    assert str(error.value).startswith(str(baseline))
    assert error.value.hint == AGAIN


@pytest.mark.parametrize(
    "changed",
    [
        {"boots": None},
        {"boots": {"offline": None}, "equality": None},
        {"model": None},
        {"equality": 1},
    ],
)
def test_an_odd_record_is_told(places: Places, lock: Lock, changed: dict[str, object]) -> None:
    record = ran(places, lock, NEW, **changed).parents[1] / "record.json"
    with pytest.raises(LanewrightError, match="is damaged: ") as error:
        of(places, lock)
    assert str(error.value).startswith(str(record))
    assert error.value.hint == f"rm {record} && {AGAIN}"
    record.write_text("[]")
    with pytest.raises(LanewrightError, match="is damaged: it is no object"):
        of(places, lock)


@pytest.mark.parametrize("told", [{"hash": "3" * 64}, {"content": "3" * 64}])
def test_a_run_on_another_model_is_passed_over(
    places: Places, lock: Lock, told: dict[str, str]
) -> None:
    """Its answers are another model's: the image would be refused, and be right."""
    ran(places, lock, NEW, model={**MODEL.record(), **told})
    with pytest.raises(
        LanewrightError, match="on another model than what is in /models/one"
    ) as error:
        of(places, lock)
    assert error.value.hint == AGAIN
    baseline = ran(places, lock, OLD)
    assert of(places, lock).run == baseline.parents[1]


def test_a_record_that_tells_no_content_is_taken_by_its_hash(places: Places, lock: Lock) -> None:
    told = {name: text for name, text in MODEL.record().items() if name != "content"}
    baseline = ran(places, lock, NEW, model=told)
    assert of(places, lock).run == baseline.parents[1]


@pytest.mark.parametrize("changed", [{"tree": "0" * 40}, {"verdict": "failed"}])
def test_no_run_of_the_tree_passed(places: Places, lock: Lock, changed: dict[str, object]) -> None:
    ran(places, lock, NEW, **changed)
    with pytest.raises(LanewrightError, match="no run of tree") as error:
        of(places, lock)
    assert error.value.hint == AGAIN
