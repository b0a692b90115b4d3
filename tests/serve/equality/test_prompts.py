from pathlib import Path

from lanewright.serve.equality.prompts import (
    DISTINCT,
    HELD_OUT,
    MAX_TOKENS,
    PROMPTS,
    prompts_for,
)
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


def test_a_trained_model_is_asked_what_its_training_held_out(tmp_path: Path) -> None:
    held_out = tmp_path / HELD_OUT
    held_out.mkdir()
    texts = {
        kind: "".join(f"  {kind} {number}: {'x' * (number % 70)}\n" for number in range(4000))
        for kind in ("english", "python")
    }
    for kind, text in texts.items():
        (held_out / f"{kind}.txt").write_text(text)
    found = prompts_for(tmp_path)
    assert len(found) == len(set(found)) == len(PROMPTS)
    assert sorted(map(len, found)) == [1 + 6 * number for number in range(44)]
    for number, prompt in enumerate(found):
        kind = ("english", "python")[number % 2]
        assert f"\n  {prompt}" in texts[kind]
    # Whoever asks few asks short and long ones.
    assert max(map(len, found[:8])) > 100


def test_any_other_model_is_asked_the_fixed_ones(tmp_path: Path) -> None:
    assert prompts_for(tmp_path) == PROMPTS
