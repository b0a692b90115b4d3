"""Whose tokens a step has, and in which phase, is the scheduler's to say."""

from types import SimpleNamespace
from typing import Any

from expert_bank.glue.requests import Requests, Scheduled
from expert_bank.recording.frames import DECODE, PREFILL, VERIFY


def new(name: str, prompt: int, computed: int = 0) -> Any:  # noqa: ANN401 - as vLLM's
    return SimpleNamespace(
        req_id=name,
        prompt_token_ids=list(range(prompt)),
        prompt_embeds=None,
        num_computed_tokens=computed,
    )


def step(
    scheduled: dict[str, int],
    *begun: Any,  # noqa: ANN401 - the same
    computed: dict[str, int] | None = None,
    drafts: dict[str, list[int]] | None = None,
    finished: set[str] | None = None,
) -> Any:  # noqa: ANN401 - the same
    cached = computed or {}
    return SimpleNamespace(
        finished_req_ids=finished or set(),
        scheduled_new_reqs=list(begun),
        scheduled_cached_reqs=SimpleNamespace(
            req_ids=list(cached), num_computed_tokens=list(cached.values())
        ),
        scheduled_spec_decode_tokens=drafts or {},
        num_scheduled_tokens=scheduled,
    )


def test_a_prompt_in_parts_and_the_answer_behind_it() -> None:
    requests = Requests()
    assert requests.step(step({"a": 4}, new("a", 6))) == {"a": Scheduled(0, 0, 4, 0, PREFILL)}
    # One token: the shape would say decode.
    assert requests.step(step({"a": 1}, computed={"a": 4})) == {"a": Scheduled(0, 4, 1, 0, PREFILL)}
    assert requests.step(step({"a": 1}, computed={"a": 5})) == {"a": Scheduled(0, 5, 1, 0, PREFILL)}
    assert requests.step(step({"a": 1}, computed={"a": 6})) == {"a": Scheduled(0, 6, 1, 0, DECODE)}


def test_several_tokens_under_verify_are_no_prefill() -> None:
    requests = Requests()
    requests.step(step({"a": 2}, new("a", 2)))
    found = requests.step(step({"a": 4}, computed={"a": 2}, drafts={"a": [5, 6, 7]}))
    assert found == {"a": Scheduled(0, 2, 4, 3, VERIFY)}


def test_a_prompt_that_the_prefix_cache_has_in_part() -> None:
    found = Requests().step(step({"a": 2}, new("a", 10, computed=8)))
    assert found == {"a": Scheduled(0, 8, 2, 0, PREFILL)}


def test_what_is_not_scheduled_is_left_out() -> None:
    requests = Requests()
    requests.step(step({"a": 2, "b": 3}, new("a", 2), new("b", 3)))
    found = requests.step(step({"b": 1}, computed={"a": 2, "b": 3}))
    assert found == {"b": Scheduled(1, 3, 1, 0, DECODE)}


def test_one_that_was_preempted_keeps_its_number_and_a_name_that_comes_again_does_not() -> None:
    requests = Requests()
    requests.step(step({"a": 2}, new("a", 2)))
    again = requests.step(step({"a": 3}, new("a", 3)))
    assert again == {"a": Scheduled(0, 0, 3, 0, PREFILL)}
    requests.step(step({}, finished={"a"}))
    assert requests.step(step({"a": 2}, new("a", 2))) == {"a": Scheduled(1, 0, 2, 0, PREFILL)}


def test_who_ended_is_told_by_number_the_oldest_first() -> None:
    requests = Requests()
    steps = [
        step({"c": 1, "b": 1, "a": 1}, new("c", 1), new("b", 1), new("a", 1)),
        step({"b": 1}, computed={"b": 1}, finished={"a", "c", "never seen"}),
        step({"b": 1}, computed={"b": 2}),
        step({}, finished={"b"}),
    ]
    ended = []
    for each in steps:
        requests.step(each)
        ended.append(requests.ended)
    assert ended == [(), (0, 2), (), (1,)]
