"""An own patch in the report: of upstream's history it may need none."""

from tests.conftest import World
from tests.report.conftest import Told
from tests.report.reading import entry_of, hunks_of
from tests.upstream.diff import own_patch
from tests.upstream.tree import BASE, PATCHED

GAP = "upstream's history between the two is not in the store"


def beside_the_hook(world: World) -> None:
    """Let the lane carry, after its hook, a patch of the same release to the same lines."""
    path = "vllm/config.py"
    other = {**BASE, path: PATCHED[path].replace(b"counter: bool = False", b"other: int = 1")}
    patch = own_patch(world.root.parent / "made", BASE, other, base="release:1.0")
    patch = patch.replace(b"Claims: sample.counter\n", b"")
    (world.root / "patches/own/other.patch").write_bytes(patch)
    world.edit(
        "series/sample.toml",
        "[[entry]]\noverlay",
        '[[entry]]\npatch = "own/other.patch"\n\n[[entry]]\noverlay',
    )


def test_one_made_on_the_pin_itself_has_no_way_to_tell_of(world: World, told: Told) -> None:
    beside_the_hook(world)
    world.edit("series/sample.toml", "release:1.1", "release:1.0")
    report = told(world)
    assert "notes" not in entry_of(report, "other")
    [hunk] = hunks_of(report, "other").values()
    assert hunk["cause"] == {"told": "the entry hook changed these lines", "entries": ["hook"]}


def test_one_made_on_another_release_says_that_the_way_is_not_known(
    world: World, told: Told
) -> None:
    beside_the_hook(world)
    assert entry_of(told(world), "other")["notes"] == [GAP]
