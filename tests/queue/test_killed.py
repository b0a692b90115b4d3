"""Commands of the queue killed with -9: all old or all new at the next start, and nothing lost."""

from pathlib import Path

import pytest

from tests.killing import killed_at_random, kills
from tests.queue.scenarios import POOL, SCENARIOS, Scenario, laid_out
from tests.queue.watched import Watched
from tests.upstream.fixtures import Carrying
from tests.upstream.whole import WORK, files_of, work_folder

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


def test_a_work_folder_that_a_killed_resolve_left_is_removed_once_its_fixes_are_recorded(
    carrying: Carrying, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out(carrying)
    with monkeypatch.context() as patched:
        patched.setattr("lanewright.queue.fix.resolve.discard", interrupted)
        assert carrying.run("resolve", POOL, "--done") == 130
    recorded, edits = files_of(carrying), work_folder(carrying)
    assert edits
    file = next(carrying.root.glob(f"{WORK}/sample/{POOL}/vllm/**/*.py"))
    with file.open("ab") as stream:
        stream.write(b"# more\n")
    assert carrying.run("resolve", POOL, "--done") == 1  # it conflicts no more; no edit is lost
    assert file.read_bytes().endswith(b"# more\n")
    file.write_bytes(file.read_bytes().removesuffix(b"# more\n"))
    assert carrying.run("resolve", POOL, "--done") == 0
    assert (files_of(carrying), work_folder(carrying)) == (recorded, {})


def interrupted(_folder: Path) -> None:
    raise KeyboardInterrupt


@pytest.mark.engine_full
@ALL
def test_a_command_killed_at_random_moments_is_all_old_or_all_new(
    carrying: Carrying, scenario: Scenario
) -> None:
    assert killed_randomly(Watched(carrying, scenario), times=5, seed=2) == 5
