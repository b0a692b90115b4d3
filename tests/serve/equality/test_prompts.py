from lanewright.serve.equality.prompts import DISTINCT, MAX_TOKENS, PROMPTS
from lanewright.serve.recipes import RECIPES


def test_there_are_enough_prompts_and_no_two_are_one() -> None:
    assert len(PROMPTS) == len(set(PROMPTS)) == 44
    assert all(prompt.strip() for prompt in PROMPTS)


def test_prompts_are_short_and_long_and_not_ascii_alone() -> None:
    sizes = [len(prompt.encode()) for prompt in PROMPTS]
    assert min(sizes) == 1
    assert max(sizes) > 400
    assert sum(not prompt.isascii() for prompt in PROMPTS) >= 3


def test_prompt_and_answer_fit_the_models_even_byte_by_byte() -> None:
    longest = max(len(prompt.encode()) for prompt in PROMPTS)
    for recipe in RECIPES.values():
        assert longest + MAX_TOKENS <= recipe["max_position_embeddings"]


def test_an_answer_has_64_tokens_and_all_together_at_least_200() -> None:
    assert (MAX_TOKENS, DISTINCT) == (64, 200)
