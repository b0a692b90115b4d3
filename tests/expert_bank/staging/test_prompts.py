"""Which steps compute a prompt: the scheduler's own word, whatever the step looks like."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from expert_bank.glue.prompts import Prompts


@dataclass
class New:
    req_id: str
    prompt_token_ids: list[int] | None
    num_computed_tokens: int = 0
    prompt_embeds: object = None


@dataclass
class Cached:
    req_ids: list[str]
    num_computed_tokens: list[int]


@dataclass
class Step:
    scheduled_new_reqs: list[New] = field(default_factory=list)
    scheduled_cached_reqs: Cached = field(default_factory=lambda: Cached([], []))
    finished_req_ids: set[str] = field(default_factory=set)


def cached(**computed: int) -> Step:
    return Step(scheduled_cached_reqs=Cached([*computed], [*computed.values()]))


def new(prompts: Mapping[str, int], *finished: str) -> Step:
    return Step([New(name, [0] * n) for name, n in prompts.items()], finished_req_ids={*finished})


def test_a_prompt_in_chunks_until_all_of_it_is_computed() -> None:
    prompts = Prompts()
    assert prompts.prefills(new({"a": 100}))
    assert prompts.prefills(cached(a=48))
    assert prompts.prefills(cached(a=99))
    assert not prompts.prefills(cached(a=100))
    assert not prompts.prefills(cached(a=101))


def test_several_tokens_of_a_step_are_no_prompt() -> None:
    # Drafts under verify, and many sequences at once: shapes of a prefill, and none.
    prompts = Prompts()
    prompts.prefills(new({f"r{n}": 8 for n in range(16)}))
    assert not prompts.prefills(cached(**{f"r{n}": 8 + n for n in range(16)}))


def test_one_that_computes_its_prompt_makes_a_mixed_step_one() -> None:
    prompts = Prompts()
    prompts.prefills(new({"a": 8, "b": 100}))
    assert prompts.prefills(cached(a=9, b=64))
    assert not prompts.prefills(cached(a=10, b=100))


def test_a_prompt_of_one_token_and_one_that_the_prefix_cache_has_but_for_one() -> None:
    prompts = Prompts()
    assert prompts.prefills(new({"a": 1}))
    assert prompts.prefills(Step([New("b", [0] * 64, num_computed_tokens=63)]))
    assert not prompts.prefills(Step([New("c", [0] * 64, num_computed_tokens=64)]))


def test_a_preempted_one_computes_its_prompt_again() -> None:
    prompts = Prompts()
    prompts.prefills(new({"a": 50}))
    assert not prompts.prefills(cached(a=57))
    assert prompts.prefills(cached(a=0))
    # Of what it had answered, too, which is no prompt.
    assert not prompts.prefills(cached(a=50))


def test_a_name_that_ended_may_come_again() -> None:
    prompts = Prompts()
    prompts.prefills(new({"a": 50}))
    assert prompts.prefills(new({"a": 5}, "a"))
    assert not prompts.prefills(cached(a=5))
    prompts.prefills(Step(finished_req_ids={"a", "never seen"}))
    assert not prompts.prefills(cached(a=0))


@pytest.mark.parametrize(("shape", "found"), [({"shape": (7, 128)}, True), (None, False)])
def test_embedded_prompts(shape: Mapping[str, object] | None, *, found: bool) -> None:
    embeds = None if shape is None else SimpleNamespace(**shape)
    assert Prompts().prefills(Step([New("a", None, prompt_embeds=embeds)])) is found
