"""``[boot]`` and ``[equality]`` as people write them."""

import re
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.queue.series_boot import BootSpec, EqualitySpec
from lanewright.serve.equality.asked import Asked
from lanewright.serve.features import switched_on
from lanewright.serve.recipes import RECIPES
from lanewright.serve.shims import check_shims
from tests.conftest import World

ROOT = Path(__file__).parents[2]
LANES = Project.find(ROOT).lanes()


def say(world: World, tables: str) -> None:
    file = world.root / "series" / "sample.toml"
    file.write_text(file.read_text().replace("# the hook", tables))


def test_a_series_that_says_nothing_is_asked_all(world: World) -> None:
    series = load_series(world.project, "sample")
    assert (series.boot, series.equality) == (BootSpec(), EqualitySpec())


def test_what_is_said_is_read(world: World) -> None:
    say(
        world,
        '[boot]\nshims = ["a"]\n[equality]\nprompts = 8\ntokens = 16\ndistinct = 64\n'
        'modes = ["eager"]\ntogether = [4, 8]\ndrift = 0.05\n',
    )
    series = load_series(world.project, "sample")
    assert series.boot.shims == ["a"]
    assert series.equality == EqualitySpec(8, 16, 64, ["eager"], [4, 8], drift=0.05)


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ("[boot]\nshims = 1", "Expected `array`, got `int` - at `$.boot.shims`"),
        ("[boot]\nshim = []", "unknown field `shim` - at `$.boot`"),
        ("[equality]\nprompts = 0", "Expected `int` >= 1 - at `$.equality.prompts`"),
        ("[equality]\ntokens = -1", "Expected `int` >= 1 - at `$.equality.tokens`"),
        ("[equality]\ndistinct = 1.5", "got `float` - at `$.equality.distinct`"),
        ('[equality]\nmodes = ["fast"]', "Invalid enum value 'fast' - at `$.equality.modes[0]`"),
        ("[equality]\ntogether = 16", "got `int` - at `$.equality.together`"),
        ("[equality]\ntogether = [16, 0]", "`int` >= 1 - at `$.equality.together[1]`"),
        (
            "[equality.baseline]\ncpu_offload_gb = 2026-11-02",
            "equality.baseline.cpu_offload_gb: 2026-11-02 is a date or time; put it in quotes",
        ),
        (
            "[equality.baseline]\nlist = [{ at = 07:32:00 }]",
            "equality.baseline.list.at: 07:32:00 is a date or time",
        ),
        ("[equality.baseline]\na = nan", "equality.baseline.a: nan is no number"),
        ("[equality]\ndrift = 0.0", "Expected `float` > 0.0 - at `$.equality.drift`"),
        ("[equality]\ndrift = 1.0", "Expected `float` < 1.0 - at `$.equality.drift`"),
        ("[equality]\ndrift = nan", "at `$.equality.drift`"),
        ('[equality]\ndrift = "3 %"', "got `str` - at `$.equality.drift`"),
        ("[equality]\nbatch = 16", "unknown field `batch` - at `$.equality`"),
    ],
)
def test_a_mistake_is_told_with_its_place(world: World, tables: str, told: str) -> None:
    say(world, f"{tables}\n")
    with pytest.raises(LanewrightError, match=re.escape(told)) as error:
        load_series(world.project, "sample")
    assert "series/sample.toml" in str(error.value)


@pytest.mark.parametrize("lane", [lane for lane in LANES if lane.startswith("cpu-")])
def test_every_lane_that_boots_here_can_be_asked_what_it_says(lane: str) -> None:
    series = load_series(Project.find(ROOT), lane)
    assert series.model.recipe in RECIPES
    assert check_shims(series.boot.shims, lane) == tuple(series.boot.shims)
    asked = Asked.of(series.equality, lane, series.engine)
    assert switched_on(series.engine)
    assert series.engine["max_num_seqs"] >= max(asked.together, default=1)
