"""Two engines' answers, token by token and bit by bit."""

import dataclasses
import json
import math
import struct
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lanewright.serve.equality.compare import Answer, Row, compare, diverge

BASE = Answer("one", ids=(5, 6, 7), bits=(50, 60, 70), gaps=(0.5, 0.25, 0.125))


def changed(**values: Any) -> Answer:  # noqa: ANN401
    return dataclasses.replace(BASE, **values)


def row(baseline: list[Answer], others: list[Answer]) -> Row:
    return compare("on", "arm", baseline, others)


def test_equal_answers_have_no_divergence() -> None:
    assert row([BASE, BASE], [BASE, BASE]) == Row("on", "arm", 2, 2, None)


def test_another_token_is_told_with_place_and_gap() -> None:
    second = changed(prompt="two")
    other = dataclasses.replace(second, ids=(5, 9, 7))
    found = row([BASE, second], [BASE, other])
    assert (found.equal, found.prompts) == (1, 2)
    assert found.first
    assert dataclasses.asdict(found.first) == {
        "number": 2,
        "prompt": "two",
        "index": 1,
        "what": "token",
        "baseline": 6,
        "other": 9,
        "gap": 0.25,
    }


def test_another_logprob_of_the_same_token_is_a_divergence() -> None:
    found = diverge(1, BASE, changed(bits=(50, 60, 71)))
    assert found
    assert (found.index, found.what) == (2, "logprob")
    assert (found.baseline, found.other, found.gap) == (7, 7, 0.125)


def test_the_second_likeliest_does_not_matter() -> None:
    assert diverge(1, BASE, changed(gaps=(9.0, 9.0, 9.0))) is None


def test_the_first_prompt_that_diverges_is_told_and_all_are_counted() -> None:
    wrong = changed(ids=(5, 6, 8))
    found = row([BASE, BASE, BASE], [BASE, wrong, changed(ids=(1, 6, 7))])
    assert found.equal == 1
    assert found.first
    assert (found.first.number, found.first.index) == (2, 2)


def test_a_shorter_answer_diverges_at_its_end() -> None:
    short = changed(ids=(5, 6), bits=(50, 60), gaps=(0.5, 0.25))
    found, back = diverge(1, BASE, short), diverge(1, short, BASE)
    assert found
    assert back
    assert (found.index, found.what) == (2, "token")
    assert (found.baseline, found.other, found.gap) == (7, None, 0.125)
    assert (back.index, back.what) == (2, "token")
    assert (back.baseline, back.other, back.gap) == (None, 7, None)


@pytest.mark.parametrize("gap", [math.nan, math.inf])
def test_a_gap_that_is_no_number_is_left_out(gap: float) -> None:
    found = diverge(1, changed(gaps=(gap, gap, gap)), changed(ids=(5, 1, 1)))
    assert found
    assert found.gap is None
    json.dumps(dataclasses.asdict(found), allow_nan=False)


@pytest.mark.parametrize("others", [[], [BASE], [BASE, BASE], [BASE, changed(prompt="x"), BASE]])
def test_answers_to_other_prompts_are_no_comparison(others: list[Answer]) -> None:
    with pytest.raises(ValueError, match="on was not asked what the baseline was"):
        row([BASE, BASE, BASE], others)


def test_an_answer_is_read_as_the_arms_write_it() -> None:
    first, second = struct.unpack("<2I", struct.pack("<2f", -0.5, -2.0))
    likeliest = [[[3, first], [4, second]]]
    written = {"prompt": "one", "ids": [3], "bits": [first], "likeliest": likeliest}
    found = Answer.read(json.loads(json.dumps({**written, "text": "it", "cached_tokens": 0})))
    assert found == Answer("one", (3,), (first,), (1.5,), ((3, first, 4, second),), "it")


def test_a_second_likeliest_token_with_another_logprob_is_no_equal_answer() -> None:
    ours = Answer("one", (3, 3), (7, 7), (1.0, 1.0), ((3, 7, 4, 9), (3, 7, 4, 9)))
    theirs = dataclasses.replace(ours, likeliest=((3, 7, 4, 9), (3, 7, 4, 8)))
    found = diverge(1, ours, theirs)
    assert found
    assert (found.what, found.index, found.baseline, found.other) == ("logprob", 1, 3, 3)


def test_the_same_tokens_decoded_to_another_text_are_no_equal_answer() -> None:
    ours = Answer("one", (3,), (7,), (1.0,), text="a")
    found = diverge(1, ours, dataclasses.replace(ours, text="A"))
    assert found
    assert (found.what, found.baseline, found.other, found.gap) == ("text", None, None, None)


places = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**32 - 1)), max_size=6)
few = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=6)


def answer(found: list[tuple[int, int]]) -> Answer:
    ids, bits = ([place[at] for place in found] for at in (0, 1))
    return Answer("one", tuple(ids), tuple(bits), (0.5,) * len(found))


@given(st.one_of(places, few), st.one_of(places, few))
def test_that_two_answers_diverge_and_where_does_not_hang_on_their_order(
    ours: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    found, back = diverge(1, answer(ours), answer(theirs)), diverge(1, answer(theirs), answer(ours))
    assert (found is None) == (back is None) == (ours == theirs)
    if found and back:
        assert (found.index, found.what) == (back.index, back.what)
        assert (found.baseline, found.other) == (back.other, back.baseline)


@given(few, few)
def test_the_index_is_the_first_at_which_they_differ(
    ours: list[tuple[int, int]], theirs: list[tuple[int, int]]
) -> None:
    assume(ours != theirs)
    found = diverge(1, answer(ours), answer(theirs))
    assert found
    assert ours[: found.index] == theirs[: found.index]
    assert ours[found.index : found.index + 1] != theirs[found.index : found.index + 1]


@given(places, st.data())
def test_one_bit_is_enough(found: list[tuple[int, int]], data: st.DataObject) -> None:
    assume(found)
    at = data.draw(st.integers(0, len(found) - 1))
    bit = data.draw(st.integers(0, 31))
    other = [*found]
    other[at] = (found[at][0], found[at][1] ^ (1 << bit))
    told = diverge(1, answer(found), answer(other))
    assert told
    assert (told.index, told.what) == (at, "logprob")
