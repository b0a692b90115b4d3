"""What is asked of an engine that records, and what of its answers must hold."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.residency.record.requests import Request, of_file, of_texts, usual
from lanewright.residency.record.running import require_whole
from lanewright.residency.trace import counted
from lanewright.residency.trace_file.recorded import Recorded
from tests.residency import requests

MIXED = requests.mixed()
# Of ``MIXED``: prompts of 3 and 2 tokens, of which five were computed; the last token of an answer is not.
ASKED = [
    {"prompt": 3, "cached": 0, "answer": 4},
    {"prompt": 2, "cached": 0, "answer": 4},
]


def usage_of(found: Recorded, **other: Any) -> dict[str, Any]:  # noqa: ANN401 - of any kind
    counts = counted(found.ids, found.experts)
    return {"tokens": found.tokens, "counts": counts.tolist(), **other}


def test_a_line_is_a_request(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text('{"prompt": "Once"}\n\n{"prompt": [1, 2], "max_tokens": 3, "seed": 4}\n')
    assert of_file(file) == [
        Request(prompt="Once", max_tokens=64, temperature=0.0, seed=0),
        Request(prompt=[1, 2], max_tokens=3, temperature=0.0, seed=4),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"prompt": 3}', "Expected `str | array`"),
        ('{"prompt": ""}', "an empty prompt"),
        ('{"prompt": "a", "max_tokens": 0}', "no token to answer"),
        ('{"prompt": "a", "temperature": -1}', "a temperature below 0"),
        ('{"prompt": "a", "top_p": 1}', "unknown field `top_p`"),
        ('{"prompt"', "Input data was truncated"),
    ],
)
def test_a_line_that_is_none_is_told_by_its_number(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text(f'{{"prompt": "Once"}}\n{line}\n')
    with pytest.raises(LanewrightError, match=r"asked\.jsonl, line 2: .*") as error:
        of_file(file)
    assert said in str(error.value)


def test_no_request(tmp_path: Path) -> None:
    with pytest.raises(LanewrightError, match="No such file"):
        of_file(tmp_path / "none")
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(LanewrightError, match="there is none in it"):
        of_file(tmp_path / "empty")


def test_pieces_are_of_the_part_that_is_named_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "held_out").mkdir()
    text = "".join(f"{number:04}" for number in range(200))
    (tmp_path / "held_out" / "python.txt").write_text(text)
    found = of_texts(tmp_path, [("python", 0.5, 1.0), ("python", 0.0, 0.5)], 2, seed=10)
    assert [each.prompt for each in found] == [
        text[400:560],
        text[560:720],
        text[:160],
        text[160:320],
    ]
    assert [each.seed for each in found] == [10, 11, 12, 13]
    assert {each.temperature for each in found} == {1.0}
    with pytest.raises(LanewrightError, match=r"0 to 0\.5 of it has 2 pieces, and 3 are wanted"):
        of_texts(tmp_path, [("python", 0.0, 0.5)], 3, seed=1)
    with pytest.raises(LanewrightError, match="held out no such text; there is python"):
        of_texts(tmp_path, [("prose", 0.0, 1.0)], 1, seed=1)


def test_a_model_without_text_is_asked_what_equal_asks(tmp_path: Path) -> None:
    assert len(usual(tmp_path)) == 44


def test_a_trace_of_what_was_asked() -> None:
    require_whole(MIXED, ASKED, usage_of(MIXED), drafts=True)


@pytest.mark.parametrize("drafts", [False, True])
def test_tokens_that_no_answer_has(drafts: bool) -> None:  # noqa: FBT001 - a case
    if not drafts:
        # Position 5 was verified, rejected and computed.
        with pytest.raises(MismatchError, match=r"12 tokens, 0 of them computed again, .* 11 were"):
            require_whole(MIXED, ASKED, usage_of(MIXED), drafts=False)
    longer = [*ASKED, {"prompt": 9, "cached": 0, "answer": 1}]
    with pytest.raises(MismatchError, match="12 tokens"):
        require_whole(MIXED, longer, usage_of(MIXED), drafts=drafts)


def test_what_was_computed_again_is_no_answers() -> None:
    ids = MIXED.ids[:4]
    found = requests.recorded(ids, 16, position=np.array([0, 1, 1, 2]))
    require_whole(found, [{"prompt": 2, "cached": 0, "answer": 2}], usage_of(found), drafts=False)


def test_counts_that_the_counter_has_otherwise() -> None:
    usage = usage_of(MIXED)
    usage["counts"][1][3] += 1
    with pytest.raises(MismatchError, match=r"layer layers\.1\.mlp: expert 3 has"):
        require_whole(MIXED, ASKED, usage, drafts=True)
    with pytest.raises(MismatchError, match="13 tokens of 2 are 26"):
        require_whole(MIXED, ASKED, usage_of(MIXED, tokens=13), drafts=True)
