"""What people may write in a series, and how a mistake is told."""

import re

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.build import build
from lanewright.queue.plan import plan
from lanewright.queue.series import EntrySpec, load_series, name_of, patch_for
from tests.conftest import World

PATCH = 'patch = "own/hook.patch"'


def test_the_sample_is_read(world: World) -> None:
    series = load_series(world.project, "sample")
    assert (series.device, series.pin) == ("cpu", "release:1.1")
    assert [name_of(entry) for entry in series.entry] == ["hook", "sample_package"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A', 'titel = "A', "field `title`|unknown field `titel`"),
        ("\n[model]", "colour = 1\n[model]", "unknown field `colour`"),
        (PATCH, PATCH + "\npath = 1", r"unknown field `path` - at `\$\.entry\[0\]`"),
        ('device = "cpu"', 'device = "tpu"', r"'tpu' - at `\$\.device`"),
        ('device = "cpu"\n', "", "missing required field `device`"),
        ('pin = "release:1.1"', "pin = 1.1", r"Expected `str`, got `float` - at `\$\.pin`"),
        (PATCH, "patch = 1", r"\$\.entry"),
        ("[model]", "[model", "no valid TOML"),
        ('recipe = "qwen3-moe-tiny"', "", r"\[model\]: needs exactly one of `recipe` and `name`"),
        (
            'recipe = "qwen3-moe-tiny"',
            'recipe = "qwen3-moe-tiny"\nname = "a/b"',
            r"\[model\]: needs exactly one",
        ),
        ('device = "cpu"', 'device = "cpu"\nseams = ["RowTable"]', r"got `array` - at `\$\.seams`"),
        ("A sample", "A\\xsample", "no valid TOML"),
        (
            PATCH,
            PATCH + '\noverlay = "x"',
            "entry 1: needs exactly one of `patch`, `pull` and `overlay`",
        ),
        (PATCH, 'name = "x"', "entry 1: needs exactly one of `patch`, `pull` and `overlay`"),
        (PATCH, PATCH + '\nname = "sample_package"', "entry 2: a second entry named 'sample_pa"),
        (
            'overlay = "sample_package"',
            'overlay = "sample_package"\nselect = ["x"]',
            "entry 2: `select` chooses parts of a patch",
        ),
    ],
)
def test_a_mistake_is_told_with_its_file_and_place(
    world: World, old: str, new: str, message: str
) -> None:
    world.edit("series/sample.toml", old, new)
    with pytest.raises(LanewrightError, match=message) as error:
        load_series(world.project, "sample")
    assert "series/sample.toml" in str(error.value)


@pytest.mark.parametrize(
    "pin",
    ["1.1", "release", "release:", "release:latest", "git:main", "release:--x", "release:1.x", ""],
)
def test_a_pin_that_is_none_is_told_with_its_file(world: World, pin: str) -> None:
    world.edit("series/sample.toml", "release:1.1", pin)
    with pytest.raises(LanewrightError, match=r"series/sample\.toml: pin: ") as error:
        plan(world.project, "sample")
    assert pin in str(error.value)


def test_a_base_that_is_no_pin_is_told_with_its_patch(world: World) -> None:
    world.edit("patches/own/hook.patch", "Base: release:1.0", "Base: main")
    with pytest.raises(LanewrightError, match=r"patches/own/hook\.patch: Base: 'main' is no pin"):
        build(world.project, world.places, "sample")


def test_a_device_without_a_distribution_is_told(world: World) -> None:
    world.edit("series/sample.toml", 'device = "cpu"', 'device = "cuda"')
    with pytest.raises(LanewrightError, match=r"upstream\.toml names no .* for 'cuda'"):
        plan(world.project, "sample")


def test_a_missing_patch_is_told_with_its_entry(world: World) -> None:
    (world.root / "patches/own/hook.patch").unlink()
    with pytest.raises(
        LanewrightError,
        match=r"series/sample\.toml: entry 1 \(hook\): no such patch: patches/own/hook\.patch",
    ):
        plan(world.project, "sample")


@pytest.mark.parametrize("path", ["/absent.patch", "../series/sample.toml", "", "own/../x.patch"])
def test_a_patch_outside_its_folder_is_refused(world: World, path: str) -> None:
    world.edit("series/sample.toml", PATCH, f'patch = "{path}"\nname = "hook"')
    with pytest.raises(LanewrightError, match=r"series/sample\.toml: entry 1"):
        plan(world.project, "sample")


@pytest.mark.parametrize("lane", ["absent", "../sample", "Sample", "", ".", "sample.toml"])
def test_an_unknown_lane_names_those_that_are(world: World, lane: str) -> None:
    with pytest.raises(LanewrightError, match=re.escape(f"unknown lane {lane!r}")) as error:
        load_series(world.project, lane)
    assert "(lanes here: sample)" in str(error.value)


def test_a_series_whose_name_is_none_of_a_lane_is_told_so(world: World) -> None:
    series = world.project.root / "series"
    (series / "My_Lane.toml").write_bytes((series / "sample.toml").read_bytes())
    with pytest.raises(LanewrightError, match=r"'My_Lane' is no name of a lane: ") as error:
        load_series(world.project, "My_Lane")
    assert error.value.hint == "rename series/My_Lane.toml"


RANGES = {"<0.31": "old.patch", ">=0.31,<0.33": "mid.patch", "0.33": "new.patch"}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.30.0", "old.patch"),
        ("0.30.1.post2", "old.patch"),
        ("0.31.0", "mid.patch"),
        ("0.32.1.dev5", "mid.patch"),
        ("0.33", "new.patch"),
        ("0.33.7", "new.patch"),
        ("0.33.0+cpu", "new.patch"),
    ],
)
def test_the_patch_for_a_pin(version: str, expected: str) -> None:
    assert patch_for(EntrySpec(patch=RANGES), version, "here") == expected


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (
            RANGES,
            r"here: none of its patches fit the pin 0\.34, where one must \(ranges: <0\.31, >=0\.31",
        ),
        ({">=0.1": "a", ">=0.2": "b"}, r"here: 2 of its patches fit the pin 0\.34"),
        ({}, "here: none of its patches"),
        ({"=>0.1": "a"}, "here: '=>0.1' is no range of versions"),
        ({"latest": "a"}, "here: 'latest' is no range of versions"),
        ({"0.x": "a"}, "here: '0.x' is no range of versions"),
    ],
)
def test_no_range_or_several(ranges: dict[str, str], message: str) -> None:
    with pytest.raises(LanewrightError, match=message):
        patch_for(EntrySpec(patch=ranges), "0.34", "here")


def test_upstream_toml_is_checked_too(world: World) -> None:
    world.edit("upstream.toml", "default_lane", "default_line")
    assert world.run("list") == 1
    with pytest.raises(LanewrightError, match=r"upstream\.toml: .*default_l[ai]ne"):
        _ = world.project


def test_an_empty_selection_is_refused(world: World) -> None:
    world.edit("series/sample.toml", 'hook.patch"', 'hook.patch"\nselect = []')
    with pytest.raises(LanewrightError, match="entry 1: `select` is empty"):
        load_series(world.project, "sample")


def test_a_file_that_is_no_lanes_name_is_no_lane(world: World) -> None:
    (world.root / "series/Odd Name.toml").write_text("")
    assert world.project.lanes() == ["sample"]


def test_a_patch_per_range_needs_a_name(world: World) -> None:
    world.edit(
        "series/sample.toml", 'patch = "own/hook.patch"', 'patch = { ">=1" = "own/hook.patch" }'
    )
    with pytest.raises(
        LanewrightError, match="entry 1: one patch per range of pins needs a `name`"
    ):
        load_series(world.project, "sample")


def test_two_entries_with_one_claim_exclude_each_other(world: World) -> None:
    hook = world.root / "patches/own/hook.patch"
    (world.root / "patches/own/other.patch").write_bytes(hook.read_bytes())
    entry = '[[entry]]\npatch = "own/hook.patch"'
    world.edit("series/sample.toml", entry, f"{entry}\n\n{entry.replace('hook', 'other')}")
    with pytest.raises(LanewrightError, match=r"\(other\) claims 'sample\.counter'.*\(hook\)"):
        plan(world.project, "sample")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("since = 2026-11-30", "engine.since: 2026-11-30 is a date or time"),
        ("at = 12:00:00", "engine.at: 12:00:00 is a date or time"),
        ("share = nan", "engine.share: nan is no number"),
        ("deep = { list = [1.0, inf] }", "engine.deep.list: inf is no number"),
    ],
)
def test_what_no_engine_could_take_is_refused(world: World, line: str, told: str) -> None:
    file = world.root / "series" / "sample.toml"
    file.write_text(file.read_text().replace("# the hook", f"[engine]\n{line}\n"))
    with pytest.raises(LanewrightError, match=re.escape(told)):
        load_series(world.project, "sample")
