"""Checks of which steps are staged, by threshold, share and steering; run by ``staging_checks``."""

import torch
from small_banks import Small, raised, small
from staged_banks import MANY, hot_of, staged

from expert_bank.refused import Refused
from expert_bank.staging.cold_share import EVERY, HALF_LIFE
from expert_bank.staging.steering import BYTES, steer


def the_threshold_follows_the_share_that_was_counted() -> None:
    """Uniform traffic's at first; then what the counters have, over and over."""
    made, staging = staged([6, 6], "mirror")
    counter, decision = made.two_bank.counter, staging.decision
    # Three of nine cold, three picks a token and layer, two layers of three rows.
    assert decision.threshold() == 4
    hot = int(made.two_bank.table.is_hot()[0].argmax())
    cold = [int((~state).argmax()) for state in made.two_bank.table.is_hot()]
    for share, least in ((0, None), (1, 2)):
        with counter.step(EVERY * 40):
            for layer in range(2):
                expert = cold[layer] if share else hot_of(made, layer)
                made.places(torch.full((EVERY * 40, 3), expert, dtype=torch.int32), layer)
        assert decision.told()["least_tokens"] == least
    assert abs(decision.told()["cold_share"] - 1) < 0.05
    assert hot == hot_of(made, 0)


def the_share_is_of_layers_with_cold_rows_and_forgets() -> None:
    """Not of those whose picks are all hot; what is older by 8,192 tokens counts half."""
    made, staging = staged([6, 9], "mirror")
    counter, decision = made.two_bank.counter, staging.decision
    null = decision.told()["cold_share"]
    cold = int((~made.two_bank.table.is_hot()[0]).argmax())
    for tokens, expert, share in (
        (EVERY - 1, cold, null),
        (HALF_LIFE - EVERY + 1, cold, 1),
        (HALF_LIFE, hot_of(made, 0), 1 / 3),
    ):
        with counter.step(tokens):
            for layer, each in enumerate((expert, 0)):
                made.places(torch.full((tokens, 3), each, dtype=torch.int32), layer)
        assert abs(decision.told()["cold_share"] - share) < 1e-9, (tokens, decision.told())


def counts_that_are_not_exact_end_no_forward() -> None:
    """The share stays what it was; whoever reads the counts is told."""
    made, staging = staged([5, 5], "mirror")
    counter, share = made.two_bank.counter, staging.decision.told()["cold_share"]
    counter.serves = True
    with counter.step(EVERY):
        """No layer ran on its tokens."""
    with made.two_bank.step(MANY, prefill=True):
        assert staging.enter(0) is not made.two_bank.table.device[0]
    assert counter.inexact
    assert steer(made.two_bank, wanted=True, least=BYTES)["cold_share"] == share
    assert "not exact" in raised(Refused, counter.snapshot)


def what_is_steered_is_refused_where_it_is_no_setting() -> None:
    """And changes nothing then."""
    made, staging = staged([5, 5], "mirror")
    wrong: list[tuple[object, object]] = [
        (1, None),
        ("yes", None),
        (None, 0),
        (None, True),
        (None, "2"),
        (None, 2**25),
        ([], 1),
    ]
    for asked in wrong:
        assert "must be" in refusal(made, *asked)
    assert (staging.decision.wanted, staging.decision.least) == (True, None)
    assert steer(made.two_bank, wanted=False, least=7)["least_tokens"] == 7
    told = steer(made.two_bank, wanted=True, least=BYTES)
    assert (told["wanted"], told["forced"]) == (True, False)
    plain = small([5], "mirror")
    for why in ("moe_prefill_stage is not set", "too small"):
        plain.two_bank.unstaged = "" if "set" in why else why
        assert why in refusal(plain)


def refusal(made: Small, wanted: object = None, least: object = None) -> str:
    """Steer, and give the text by which that was refused."""
    found = ""
    try:
        steer(made.two_bank, wanted, least)
    except Refused as error:
        found = error.message
    return found


CHECKS = (
    the_threshold_follows_the_share_that_was_counted,
    the_share_is_of_layers_with_cold_rows_and_forgets,
    counts_that_are_not_exact_end_no_forward,
    what_is_steered_is_refused_where_it_is_no_setting,
)
