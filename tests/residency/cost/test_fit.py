"""Readings of a step, held against three measurements of one change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewright.residency.cost.cold_sets import of_each_layer, of_whole_layers, skew_of_usage
from lanewright.residency.cost.crossing import crossing
from lanewright.residency.cost.distinct import odds
from lanewright.residency.cost.fit import Fit, fit
from lanewright.residency.cost.fit_told import fit_lines
from lanewright.residency.cost.machine_file import Anchors
from lanewright.residency.cost.members import Held, Member
from lanewright.residency.cost.step_reads import Reading
from tests.residency.cost.lane import estimated, lane_machine, lane_model

# Of 17.92 MiB at 340 GB/s.
ROW = lane_model().row / 340e9


def anchors() -> Anchors:
    found = lane_machine().anchors
    assert found is not None
    return found


def fitted() -> Fit:
    found = estimated().fit
    assert found is not None
    return found


def milliseconds(member: Member | None) -> list[float]:
    assert member is not None
    return [round(each * 1e3, 1) for each in member.saved.values()]


def test_what_was_measured() -> None:
    """153.2 tokens/s x 14.6 ms accepted, and users x that / tokens/s of a step."""
    found = fitted()
    assert found.accepted == pytest.approx(2.24, abs=0.005)
    saved = {users: each.seconds * 1e3 for users, each in found.measured.items()}
    assert saved == pytest.approx({1: 10.6, 8: 33.3, 16: 55.4}, abs=0.05)
    assert found.measured[1].after_step == pytest.approx(14.6e-3)
    assert found.measured[16].before_step == pytest.approx(93.0e-3, abs=5e-5)
    assert found.one_token == pytest.approx(2.8e-3, abs=5e-5)


def test_as_many_tokens_as_are_accepted_do_not_fit() -> None:
    found = fitted().at_accepted
    assert milliseconds(found) == [6.2, 43.4, 74.4]
    assert not found.fits
    assert found.error[1] == pytest.approx(-0.41, abs=0.005)


def test_four_tokens() -> None:
    """As it was worked out by hand: 11.0 ms with one user, and 68.7 and 105.6, which overshoot twice."""
    found = estimated(tokens=4).fit
    assert found is not None
    assert milliseconds(found.asked) == [11.0, 68.7, 105.6]
    assert found.asked is not None
    assert found.asked.error[8] == pytest.approx(1.07, abs=0.005)
    assert found.asked.error[16] == pytest.approx(0.91, abs=0.005)
    # More than the whole step of that time.
    assert found.asked.more_than_step == [8, 16]


def test_the_fit_is_of_one_user_and_predicts_the_others() -> None:
    found = fitted()
    assert found.fitted is not None
    assert found.fitted.reading.tokens == pytest.approx(3.87, abs=0.005)
    assert found.fitted.reading == Reading(found.fitted.reading.tokens, 0.0, 0.0)
    assert found.fitted.solved == "tokens"
    assert found.fitted.fits
    assert found.fitted.in_range
    assert milliseconds(found.fitted) == [10.6, 67.0, 103.8]
    assert found.fitted.error[8] == pytest.approx(1.01, abs=0.01)
    assert found.fitted.error[16] == pytest.approx(0.87, abs=0.005)
    assert found.tokens == found.fitted.reading.tokens
    assert estimated().tokens_from == "fitted"
    assert found.range == (found.accepted, 6)


def test_what_other_users_measured_changes_no_fit() -> None:
    """What is predicted was not looked at."""
    told = anchors()
    speeds = {**told.speeds, 8: (100.0, 900.0), 16: (100.0, 900.0)}
    other = Anchors(told.before, told.after, speeds, 6.0, "x", told.whole_layers)
    found = fit(lane_model(), other, 14.6e-3, ROW)
    assert found.fitted is not None
    assert milliseconds(found.fitted) == milliseconds(fitted().fitted)
    one = fitted().fitted
    assert one is not None
    assert found.fitted.reading == one.reading
    assert [each.reading for each in found.family] == [each.reading for each in fitted().family]


def test_its_family_fits_one_user_as_well() -> None:
    family = fitted().family
    assert [each.solved for each in family] == ["tokens"] * 4 + ["overlap"] * 2
    for each in family:
        assert each.fits
        assert each.saved[1] == pytest.approx(fitted().measured[1].seconds)
        assert each.in_range is (each.reading.tokens <= 6)
    readings = [
        (round(e.reading.tokens, 2), round(e.reading.overlap, 2), e.reading.skew) for e in family
    ]
    assert readings == [
        (3.92, 0, 0.5), (4.47, 0, 1.0), (7.66, 0, 1.5), (21.11, 0, 2.0), (6.0, 0.34, 0.0), (6.0, 0.21, 1.0)
    ]  # fmt: skip


def test_none_of_it_is_right_with_every_number_of_users() -> None:
    best = fitted().best
    assert best is not None
    assert best.fits
    assert best.in_range
    worst = max(abs(best.error[users]) for users in (8, 16))
    assert worst == pytest.approx(0.16, abs=0.005)
    for each in fitted().family:
        if each.in_range:
            assert max(abs(each.error[users]) for users in (8, 16)) > worst


def test_whole_layers_in_load_order() -> None:
    """What was cold before: all experts of 24 % of the layers, and skewed as the map's own share says."""
    found = fitted()
    assert found.usage_skew == pytest.approx(1.12, abs=0.005)
    assert odds(384, found.usage_skew or 0)[295:].sum() == pytest.approx(0.027)
    assert milliseconds(found.layers_at_most) == [9.7, 35.2, 47.2]
    assert milliseconds(found.layers_fitted) == [10.6, 37.5, 49.2]
    assert found.layers_fitted is not None
    assert found.layers_fitted.reading.tokens == pytest.approx(6.81, abs=0.005)
    assert not found.layers_fitted.in_range


def test_without_skew_both_readings_are_nearly_one() -> None:
    """89 of 384 experts of each layer, or all experts of 24 % of them."""
    rows = [
        make(lane_model(), anchors())(Reading(4.0), 1)[0]
        for make in (of_each_layer, of_whole_layers)
    ]
    assert rows[0] == pytest.approx(rows[1], rel=0.02)


def test_a_map_that_is_no_skew_of_zipf_has_none() -> None:
    assert skew_of_usage(lane_model(",".join(["295"] * 39 + ["294"])), anchors()) is None
    assert skew_of_usage(lane_model("384"), anchors()) is None
    assert skew_of_usage(lane_model("0"), anchors()) is None
    told = anchors()
    colder = Anchors(0.9, 0.5, told.speeds, 6.0, "x", whole_layers=True)
    assert skew_of_usage(lane_model(), colder) is None
    assert fit(lane_model(), colder, 14.6e-3, ROW).layers_at_most is None


def test_a_lane_without_cold_experts_explains_nothing() -> None:
    found = fit(lane_model("384"), anchors(), 14.6e-3, ROW)
    assert found.fitted is None
    assert found.tokens is None
    assert found.family == []
    assert found.best is None
    assert found.at_accepted.error == {1: -1, 8: -1, 16: -1}
    assert "none gives what one user saved" in "\n".join(fit_lines(found))


def test_one_user_alone_leaves_nothing_to_predict() -> None:
    told = anchors()
    one = Anchors(told.before, told.after, {1: told.speeds[1]}, 6.0, "x")
    found = fit(lane_model(), one, 14.6e-3, ROW)
    assert milliseconds(found.fitted) == [10.6]
    assert found.best is None
    assert found.usage_skew is None


def test_a_fit_out_of_the_range_is_told_and_not_taken() -> None:
    told = anchors()
    narrow = Anchors(told.before, told.after, told.speeds, 3.0, "x")
    found = fit(lane_model(), narrow, 14.6e-3, ROW)
    assert found.fitted is not None
    assert not found.fitted.in_range
    assert found.tokens is None
    assert "T outside of the range" in next(e for e in fit_lines(found) if "the fit" in e)


def test_the_plain_words() -> None:
    told = "\n".join(fit_lines(fitted()))
    for words in (
        "T, tokens of a user that a step computes, was not measured: searched from 2.24 (accepted) to 6 (the",
        "10.6 ms 0%    67.0 ms +101%      104 ms +87%",
        "6.23 ms -41%     43.4 ms +30%     74.4 ms +34%",
        "with 8 and 16 users took longer than their whole step",
        "no T, overlap and skew in the range come nearer than 16%",
        "whole layers in load order",
    ):
        assert words in told, words


def test_a_solver_that_finds_the_first_of_several() -> None:
    assert crossing(lambda x: (x - 1) * (x - 3), 0, 10) == pytest.approx(1)
    assert crossing(lambda x: x - 2, 2, 10) == 2
    assert crossing(lambda x: x + 1, 0, 10) is None
    assert crossing(lambda x: -x - 1, 0, 10) is None


@given(st.floats(0.1, 9.9), st.booleans())
def test_a_root_is_found_on_either_side(root: float, falls: bool) -> None:  # noqa: FBT001
    found = crossing(lambda x: (root - x) if falls else (x - root), 0, 10)
    assert found == pytest.approx(root)


def test_overlap_hides_a_share_of_what_both_read() -> None:
    found = fitted()
    held = Held(of_each_layer(lane_model(), anchors()), ROW, found.measured, found.range)
    whole, half = held.member(Reading(5.0)), held.member(Reading(5.0, overlap=0.5))
    assert half.saved == pytest.approx({users: each / 2 for users, each in whole.saved.items()})
    assert held.with_overlap(2.0, 0.0) is None
