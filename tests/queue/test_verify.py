"""``verify``: any change to the tree on disk, or to what a lock says, is found and named."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.build import build
from lanewright.queue.lock import Lock, encode, sealed
from lanewright.queue.site import lay_site
from lanewright.queue.verify import verify
from tests.conftest import World

VLLM = "vllm/config.py"


@pytest.fixture
def site(world: World) -> Path:
    lock = build(world.project, world.places, "sample").lock
    return lay_site(world.places, lock.pin, lock.tree)


def edit_one_line(site: Path) -> None:
    file = site / VLLM
    file.write_bytes(file.read_bytes().replace(b'"auto"', b'"uva"'))


def replace_by_link_to_copy(site: Path) -> None:
    shutil.copy(site / VLLM, site.parent / "copy.py")
    (site / VLLM).unlink()
    (site / VLLM).symlink_to(site.parent / "copy.py")


def replace_folder_by_link(site: Path) -> None:
    (site / "sample_package").rename(site.parent / "moved")
    (site / "sample_package").symlink_to(site.parent / "moved")


def replace_companion_by_copy(site: Path) -> None:
    content = (site / "vllm/_C.abi3.so").read_bytes()
    (site / "vllm/_C.abi3.so").unlink()
    (site / "vllm/_C.abi3.so").write_bytes(content)


def point_companion_elsewhere(site: Path) -> None:
    (site / "vllm/_version.py").unlink()
    (site / "vllm/_version.py").symlink_to("/dev/null")


def link_out_through_the_release(site: Path) -> None:
    beside = (site / "vllm/_C.abi3.so").readlink().parents[1]
    (site / "sitecustomize.py").symlink_to(f"{beside}/../../evil.py")


def replace_file_by_folder(site: Path) -> None:
    (site / VLLM).unlink()
    (site / VLLM).mkdir()
    (site / VLLM / "x.py").write_text("")


CHANGES: list[tuple[Callable[[Path], object], str]] = [
    (edit_one_line, "vllm/config.py was changed"),
    (lambda site: (site / VLLM).unlink(), "vllm/config.py is missing"),
    (lambda site: (site / VLLM).chmod(0o755), "vllm/config.py was changed"),
    (lambda site: (site / VLLM).write_bytes(b""), "vllm/config.py was changed"),
    (lambda site: (site / "vllm/empty.py").unlink(), "vllm/empty.py is missing"),
    (lambda site: (site / "vllm/empty.py").write_text("\n"), "vllm/empty.py was changed"),
    (lambda site: (site / "vllm/added.py").write_text(""), "vllm/added.py was added"),
    (lambda site: (site / "vllm/.hidden").write_text(""), "vllm/.hidden was added"),
    (lambda site: (site / "sitecustomize.py").write_text(""), "sitecustomize.py was added"),
    (lambda site: (site / "vllm/link").symlink_to("config.py"), "vllm/link was added"),
    (lambda site: (site / "link").symlink_to("vllm"), "link was added"),
    (link_out_through_the_release, "sitecustomize.py was added"),
    (replace_by_link_to_copy, "vllm/config.py was changed"),
    (replace_folder_by_link, "sample_package was added"),
    (replace_folder_by_link, "sample_package/__init__.py is missing"),
    (replace_file_by_folder, "vllm/config.py is missing"),
    (replace_file_by_folder, "vllm/config.py/x.py was added"),
    (replace_companion_by_copy, "vllm/_C.abi3.so is not the release's own file"),
    (point_companion_elsewhere, "vllm/_version.py is not the release's own file"),
    (lambda site: (site / "vllm/_C.abi3.so").unlink(), "vllm/_C.abi3.so is missing"),
]


@pytest.mark.parametrize(("change", "told"), CHANGES, ids=[told for _, told in CHANGES])
def test_a_change_on_disk_ends_with_5_and_names_the_file(
    world: World,
    site: Path,
    capfd: pytest.CaptureFixture[str],
    change: Callable[[Path], object],
    told: str,
) -> None:
    change(site)
    capfd.readouterr()
    assert world.run("verify", "--tree") == 5
    captured = capfd.readouterr()
    assert f"  {told}\n" in captured.err
    assert f"rm -r {site}" in captured.err
    assert captured.out == ""


def test_all_changed_files_are_named(world: World, site: Path) -> None:
    edit_one_line(site)
    (site / "vllm/empty.py").unlink()
    with pytest.raises(LanewrightError, match=r"(?s)config\.py was changed.*empty\.py is missing"):
        verify(world.project, world.places, "sample", lock=False, tree=True, image=False)


def test_removed_and_laid_again_it_is_right(world: World, site: Path) -> None:
    edit_one_line(site)
    shutil.rmtree(site)
    lock = build(world.project, world.places, "sample").lock
    assert lay_site(world.places, lock.pin, lock.tree) == site
    assert world.run("verify", "--tree") == 0


def test_what_was_proved_is_said(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    lock = build(world.project, world.places, "sample").lock
    assert world.run("verify") == 0
    assert capfd.readouterr().out == f"lane sample: lock verified, tree {lock.tree}\n"
    lay_site(world.places, lock.pin, lock.tree)
    assert world.run("verify") == 0
    assert "lock and tree verified" in capfd.readouterr().out


def test_nothing_to_verify_is_an_error(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    assert world.run("verify") == 4
    assert "lane sample has no lock yet" in capfd.readouterr().err
    build(world.project, world.places, "sample")
    assert world.run("verify", "--tree") == 1
    assert "not laid out" in capfd.readouterr().err


def test_a_lock_out_of_date_ends_with_5(world: World) -> None:
    build(world.project, world.places, "sample")
    world.edit("overlay/sample_package/__init__.py", "Ours", "Still ours")
    assert world.run("verify", "--lock") == 5


def test_an_edited_lock_ends_with_5(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    build(world.project, world.places, "sample")
    text = world.lock.read_text()
    world.lock.write_text(text.replace('"outcome": "clean"', '"outcome": "landed"'))
    assert world.run("verify", "--lock") == 5
    assert "sample.lock was edited" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("keys", "value", "place"),
    [
        (("pin", "commit"), "0" * 40, "pin.commit"),
        (("pin", "version"), "1.0", "pin.version"),
        (("entries", 0, "tree"), "0" * 40, "entries[0].tree"),
        (("entries", 0, "subset"), "0" * 40, "entries[0].subset"),
        (("entries", 0, "base", "commit"), "0" * 40, "entries[0].base.commit"),
        (("entries", 0, "hunks", 0, "outcome"), "landed", "entries[0].hunks[0].outcome"),
        (("entries", 1, "files"), ["x"], "entries[1].files"),
        (("entries",), [], "entries"),
        (("tree",), "0" * 40, "tree"),
    ],
)
def test_a_lock_that_says_another_thing_names_it(
    world: World,
    capfd: pytest.CaptureFixture[str],
    keys: tuple[str | int, ...],
    value: object,
    place: str,
) -> None:
    build(world.project, world.places, "sample")
    data = json.loads(world.lock.read_text())
    inner = data
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    world.lock.write_bytes(encode(sealed(msgspec.convert(data, Lock))))
    assert world.run("verify", "--lock") == 5
    assert f"the lock says {place} = " in capfd.readouterr().err
