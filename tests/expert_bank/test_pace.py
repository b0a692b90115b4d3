"""Settings of a map that follows traffic, as text and by name."""

import pytest

from expert_bank.pace import Pace
from expert_bank.refused import Refused


def test_no_text_is_no_pace() -> None:
    assert Pace.read("") is None
    assert Pace.read("  ") is None


def test_a_number_alone_says_how_often() -> None:
    assert Pace.read("128") == Pace(every=128)


def test_settings_by_name_and_sizes_in_binary_units() -> None:
    found = Pace.read("32, swaps=1, bytes=1.5MiB,seconds=0.25,ratio=2")
    assert found == Pace(every=32, swaps=1, bytes=3 * 2**19, seconds=0.25, ratio=2)
    assert Pace.read("bytes=4096") == Pace(bytes=4096)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("often", "every is 'often', and must be a number"),
        ("every=-1", "every is '-1', and must be a number"),
        ("0", "every is 0, and must be above 0 and below 2**53"),
        ("64.5", "every is 64.5, and must be a whole number"),
        ("speed=3", "'speed' is no setting, or there twice"),
        ("64,every=64", "'every' is no setting, or there twice"),
        ("swaps=", "swaps is '', and must be a number"),
        ("half_life=0", "half_life is 0"),
        ("half_life=0.5", "half_life is 0.5, and must be a whole number"),
        ("every=64,", "'' is no setting"),
        ("ratio=0.5", "below 1 two experts would alternate"),
        ("bytes=1GB", "bytes is '1GB', and must be a number"),
        ("seconds=0", "seconds is 0"),
        ("every=٣", "every is '٣', and must be a number"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, told: str) -> None:
    with pytest.raises(Refused, match="moe_follow") as caught:
        Pace.read(text)
    assert told in str(caught.value)


def test_some_settings_are_changed_and_the_others_kept() -> None:
    pace = Pace(every=8, bytes=100)
    assert pace.changed({"swaps": 5}) == Pace(every=8, bytes=100, swaps=5)
    assert pace.changed({"bytes": None}) == Pace(every=8)


def test_what_may_be_zero_says_so_and_nothing_long_is_repeated() -> None:
    for value in (-1, 2**53):
        with pytest.raises(Refused, match=r"residence is .*, and must be 0 or more and below 2"):
            Pace().changed({"residence": value})
    for asked in ({"x" * 10**6: 1}, {"every": "y" * 10**6}):
        with pytest.raises(Refused) as caught:
            Pace().changed(asked)
        assert len(str(caught.value)) < 400
    with pytest.raises(Refused) as caught:
        Pace.read("z" * 10**6)
    assert len(str(caught.value)) < 400


def test_numbers_go_as_far_as_is_said() -> None:
    for name in ("every", "residence", "half_life", "bytes", "margin"):
        assert getattr(Pace().changed({name: 2**53 - 1}), name) == 2**53 - 1
        with pytest.raises(Refused, match=rf"{name} is 9007199254740992, and .* below 2\*\*53"):
            Pace().changed({name: 2**53})


@pytest.mark.parametrize(
    "settings",
    [
        {"every": True},
        {"every": "8"},
        {"every": 1.0},
        {"ratio": float("nan")},
        {"ratio": "1"},
        {"margin": float("inf")},
        {"pace": 1},
        {"swaps": 2**63},
        {"every": None},
        {1: 2},
    ],
)
def test_values_from_outside_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(Refused, match="moe_follow"):
        Pace().changed(settings)
