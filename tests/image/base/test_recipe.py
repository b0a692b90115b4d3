"""A base's key: what moves it, what does not, and which lanes have none."""

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.image.base import recipe as recipes
from lanewright.image.base.recipe import Recipe, base_image, folder_of, newest_time, recipe_of
from tests.conftest import World
from tests.image.base.conftest import locked, small_wheel
from tests.upstream.wheels import make_wheel


def recipe(world: World) -> Recipe:
    return recipe_of(world.project, world.places, "sample")


def key(world: World) -> str:
    return recipe(world).key


def other_list(world: World, index: Path, _: pytest.MonkeyPatch) -> None:
    text = locked(small_wheel(index, "thing", "2"))
    (world.root / "environments/cpu.txt").write_text(text)


def other_wheel(world: World, _index: Path, _: pytest.MonkeyPatch) -> None:
    make_wheel(world.places.wheels, "1.1", {"vllm/_C.so": b"another build"})


def other_release(world: World, _index: Path, _: pytest.MonkeyPatch) -> None:
    world.edit("series/sample.toml", "release:1.1", "release:1.2")


def other_torch(_world: World, _index: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recipes, "TORCH", "2.14.0+cpu")


def other_file(_world: World, _index: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recipes, "own_file", lambda name: f"another {name}")


def other_suite(_world: World, _index: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recipes, "SUITE", "trixie")


def other_form(_world: World, _index: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recipes, "FORM", recipes.FORM + 1)


def shim(world: World, _index: Path, _: pytest.MonkeyPatch) -> None:
    world.edit("series/sample.toml", "# the hook", '[boot]\nshims = ["triton-interpreter"]\n')


CHANGES = [
    *(other_list, other_wheel, other_release, other_torch),
    *(other_file, other_suite, other_form, shim),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change.__name__))
def test_the_key_moves_with(
    based: World,
    index: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[World, Path, pytest.MonkeyPatch], None],
) -> None:
    before = key(based)
    assert key(based) == before
    change(based, index, monkeypatch)
    assert key(based) != before


def test_a_comment_in_the_list_is_no_other_base(based: World) -> None:
    before = key(based)
    based.edit("environments/cpu.txt", "# What", "# All that")
    assert key(based) == before


def test_triton_is_there_for_a_lane_that_interprets_it(
    based: World, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "triton" not in recipe(based).requirements
    assert "triton" in recipe(based).left_out
    shim(based, index, monkeypatch)
    assert "triton==3" in recipe(based).requirements
    assert "triton" not in recipe(based).left_out


def test_drafts_by_ngram_keep_numba(based: World) -> None:
    assert "numba" in recipe(based).left_out
    based.edit(
        "series/sample.toml", "# the hook", '[engine]\nspeculative_config = { method = "ngram" }\n'
    )
    assert "numba" not in recipe(based).left_out


def test_its_time_is_that_of_the_newest_member(based: World, tmp_path: Path) -> None:
    wheel = tmp_path / "vllm_cpu-1.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, day in (("vllm/a.py", 3), ("vllm/b.py", 4), ("vllm/c.py", 2)):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, day, 5, 6, 8)), b"")
    assert replace(recipe(based), time=newest_time(wheel)).created == "2026-01-04T05:06:08Z"


def test_no_base_before_one_is_made_and_none_of_another_key(based: World, index: Path) -> None:
    def found() -> Path | None:
        return base_image(based.project, based.places, "sample")

    assert found() is None
    folder = folder_of(based.places, recipe(based))
    folder.mkdir(parents=True)
    assert found() is None
    (folder / "index.json").write_text("{}")
    assert found() == folder
    (based.root / "environments/cpu.txt").write_text(locked(small_wheel(index, "thing", "3")))
    assert found() is None


def test_a_published_base_is_not_made(based: World) -> None:
    digest = f"sha256:{'0' * 64}"
    table = f'[image]\nsite_packages = "/a"\nbase = "there/is:one"\ndigest = "{digest}"\n'
    based.edit("series/sample.toml", "# the hook", table)
    with pytest.raises(LanewrightError, match="there/is:one") as caught:
        recipe(based)
    assert caught.value.hint == "lanewright image mirror sample"


def test_a_list_without_hashes_is_refused(based: World) -> None:
    (based.root / "environments/cpu.txt").write_text("thing==1\n")
    with pytest.raises(LanewrightError, match="thing is not pinned with its hashes"):
        recipe(based)
