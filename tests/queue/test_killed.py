"""Commands of the queue killed with -9: all old or all new at the next start, and nothing lost."""

import pytest

from tests.killing import killed_at_random, kills
from tests.queue.scenarios import SCENARIOS, Scenario
from tests.queue.watched import Watched
from tests.upstream.fixtures import Carrying

ALL = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name.replace(" ", "-"))


def killed(watched: Watched, *, every: int, moments: tuple[str, ...]) -> list[str]:
    """How each kill ended: ``old`` or ``new``."""
    scenario, root = watched.scenario, watched.carrying.root
    tries = kills(
        watched.argv, root, {}, watched.prepare, every=every, moments=moments, code=scenario.code
    )
    return [watched.require_whole(each) for each in tries]


@pytest.mark.engine_full
@ALL
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_command_killed_at_any_step_is_all_old_or_all_new(
    carrying: Carrying, scenario: Scenario, moment: str
) -> None:
    watched = Watched(carrying, scenario)
    ends = killed(watched, every=1, moments=(moment,))
    if watched.edits:
        decided = ends.count("new")
        assert decided > 0
        assert ends == ["old"] * (len(ends) - decided) + ["new"] * decided


def test_a_rebase_killed_at_some_steps_is_all_old_or_all_new(carrying: Carrying) -> None:
    ends = killed(Watched(carrying, SCENARIOS[0]), every=8, moments=("after",))
    assert ends == sorted(ends, key=["old", "new"].index)


def killed_randomly(watched: Watched, *, times: int, seed: int = 0) -> int:
    """How many tries ended, each whole."""
    tries = killed_at_random(
        watched.argv,
        watched.carrying.root,
        {},
        watched.prepare,
        times=times,
        seed=seed,
        code=watched.scenario.code,
    )
    return len([watched.require_whole(each) for each in tries])


def test_a_rebase_killed_at_3_random_moments_is_all_old_or_all_new(carrying: Carrying) -> None:
    assert killed_randomly(Watched(carrying, SCENARIOS[0]), times=3) == 3


@pytest.mark.engine_full
def test_a_rebase_killed_at_20_random_moments_is_all_old_or_all_new(carrying: Carrying) -> None:
    assert killed_randomly(Watched(carrying, SCENARIOS[0]), times=20, seed=1) == 20


@pytest.mark.engine_full
@ALL
def test_a_command_killed_at_random_moments_is_all_old_or_all_new(
    carrying: Carrying, scenario: Scenario
) -> None:
    assert killed_randomly(Watched(carrying, scenario), times=5, seed=2) == 5
