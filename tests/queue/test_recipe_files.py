"""Fixes as they lie in the project: found, in order, and only where they belong."""

import os
from pathlib import Path

import pytest

from lanewright.queue.fix.recipe import Recipe, RecipeError, Side
from lanewright.queue.fix.recipe_files import file_name, read_fixes
from lanewright.queue.fix.recipe_making import make
from lanewright.queue.fix.recipe_text import encode

SIDES: dict[Side, bytes | None] = {"base": b"a\n", "ours": b"b\n", "theirs": None}


def put(folder: Path, path: str, ours: bytes = b"b\n") -> tuple[Path, Recipe]:
    recipe = make(path, "100644", {**SIDES, "ours": ours}, b"settled so\n")
    file = folder / file_name(recipe)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(encode(recipe))
    return file, recipe


def test_the_name_tells_the_path_and_the_sides(tmp_path: Path) -> None:
    one, other = put(tmp_path, "vllm/a b.py")[1], put(tmp_path, "vllm/a b.py", b"moved\n")[1]
    assert file_name(one) == "vllm/a b.py.2f400c8f.fix"
    assert file_name(one) != file_name(other)


def test_all_are_found_in_order(tmp_path: Path) -> None:
    paths = ["vllm/b.py", "vllm/a/x.py", ".hidden/x.yaml", "setup.py", "vllm/x~", "vllm/fix"]
    put_there = [put(tmp_path, path) for path in paths] + [put(tmp_path, "setup.py", b"moved\n")]
    assert read_fixes(tmp_path) == sorted(put_there, key=lambda each: each[0])


def test_an_entry_without_a_folder_has_none(tmp_path: Path) -> None:
    assert read_fixes(tmp_path / "absent") == []


@pytest.mark.parametrize("name", ["{}~", ".{}.swp", "#{}#", ".#{}", "{}.orig", "{}.rej", "{}.bak"])
def test_what_editors_leave_is_no_fix(tmp_path: Path, name: str) -> None:
    file, recipe = put(tmp_path, "vllm/x.py")
    file.with_name(name.format(file.name)).write_bytes(b"<<<<<<<")
    (tmp_path / "empty").mkdir()
    assert read_fixes(tmp_path) == [(file, recipe)]


def test_a_name_that_does_not_fit_is_told_with_the_right_one(tmp_path: Path) -> None:
    file, _ = put(tmp_path, "vllm/x.py")
    wrong = file.rename(file.with_name("x.py.00000000.fix"))
    with pytest.raises(RecipeError, match=r"x\.py\.00000000\.fix: its name does not fit") as error:
        read_fixes(tmp_path)
    assert error.value.hint == f"mv {wrong} {file}"


def test_a_file_that_is_none_by_its_name_is_told(tmp_path: Path) -> None:
    file, _ = put(tmp_path, "vllm/x.py")
    file.rename(file.with_suffix(".txt"))
    with pytest.raises(RecipeError, match="no fix by its name"):
        read_fixes(tmp_path)


@pytest.mark.parametrize("target", ["/etc/passwd", ".", "absent", "x.py"])
def test_a_symlink_is_refused(tmp_path: Path, target: str) -> None:
    put(tmp_path, "vllm/x.py")
    (tmp_path / "vllm" / "link.fix").symlink_to(target)
    with pytest.raises(RecipeError, match=r"link\.fix: no regular file"):
        read_fixes(tmp_path)


def test_a_folder_behind_a_symlink_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "real", "vllm/x.py")
    (tmp_path / "entry").symlink_to("real")
    with pytest.raises(RecipeError, match="entry: a symlink"):
        read_fixes(tmp_path / "entry")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.fix")
    with pytest.raises(RecipeError, match="no regular file"):
        read_fixes(tmp_path)


def test_damage_is_named_by_its_file(tmp_path: Path) -> None:
    file, _ = put(tmp_path, "vllm/x.py")
    file.write_bytes(file.read_bytes() + b"junk\n")
    with pytest.raises(RecipeError, match=rf"^{file}: line 10: 'junk"):
        read_fixes(tmp_path)
