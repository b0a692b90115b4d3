"""Objects of a store that is damaged, or was made by another tool, read within the process."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.store.git import GitError, Repository, create
from lanewright.store.objects import EMPTY, File, TreeId, changes, files, read_blobs
from lanewright.store.odb import MissingObjectError, object_id, objects_of
from lanewright.store.trees import edit_tree
from lanewright.store.write import write_blobs

CONTENT = b"".join(b"line %d\n" % number for number in range(300))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return create(tmp_path / "objects.git")


def place_of(repository: Repository, name: str) -> Path:
    return repository.path / "objects" / name[:2] / name[2:]


def damaged(repository: Repository, change: Callable[[bytes], bytes]) -> str:
    """A blob whose file was changed on the disk."""
    [name] = write_blobs(repository, [CONTENT])
    place = place_of(repository, name)
    raw = place.read_bytes()
    place.chmod(0o644)
    place.write_bytes(change(raw))
    return name


@pytest.mark.parametrize("left", [0, 1, 2, 3, 7, 20, 100, -40, -5, -4, -3, -2, -1])
def test_an_object_that_is_cut_short_is_said_to_be_damaged(
    repository: Repository, left: int
) -> None:
    name = damaged(repository, lambda raw: raw[:left])
    with pytest.raises(GitError, match="is damaged") as error:
        objects_of(repository).read(name)
    assert "rm -r" in (error.value.hint or "")


@pytest.mark.parametrize("at", [0, 1, 5, 30, -3])
def test_a_byte_that_flipped_is_seen(repository: Repository, at: int) -> None:
    def flip(raw: bytes) -> bytes:
        changed = bytearray(raw)
        changed[at] ^= 0x10
        return bytes(changed)

    name = damaged(repository, flip)
    with pytest.raises(GitError, match="is damaged"):
        objects_of(repository).read(name)


def test_another_objects_content_is_seen(repository: Repository) -> None:
    name = damaged(repository, lambda _: zlib.compress(b"blob 5\0other"))
    with pytest.raises(GitError, match="not what its name says"):
        read_blobs(repository, [write_blobs(repository, [b"fine"])[0], name])  # type: ignore[list-item]


def test_a_borrowed_object_that_is_cut_short_is_said_to_be_damaged(
    repository: Repository, tmp_path: Path
) -> None:
    name = damaged(repository, lambda raw: raw[:20])
    borrower = create(tmp_path / "borrower.git")
    info = borrower.path / "objects/info/alternates"
    info.write_text("../../objects.git/objects\n")
    with pytest.raises(GitError, match="is damaged"):
        objects_of(borrower).read(name)


def test_a_store_that_cannot_be_opened_is_named(repository: Repository) -> None:
    (repository.path / "objects/info/alternates").mkdir()
    with pytest.raises(GitError, match="cannot open"):
        objects_of(repository)


def test_what_is_not_there_is_missing(repository: Repository) -> None:
    with pytest.raises(MissingObjectError, match="lacks object 1111"):
        objects_of(repository).read("1" * 40)


def raw_tree(repository: Repository, *entries: tuple[str, str, str]) -> TreeId:
    """A tree as its bytes say, which no git would write so."""
    content = b"".join(
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(blob) for mode, name, blob in entries
    )
    place = place_of(repository, object_id("tree", content))
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(f"tree {len(content)}\0".encode() + content))
    return TreeId(object_id("tree", content))


def test_modes_are_read_as_git_reads_them(repository: Repository) -> None:
    [blob] = write_blobs(repository, [b"x"])
    inner = edit_tree(repository, EMPTY, {"f": File("100644", blob)})
    modes = ["100600", "100664", "100700", "100775", "0100644", "120777"]
    named = sorted((mode, f"m{mode}", blob) for mode in modes)
    tree = raw_tree(
        repository,
        ("040000", "a", inner),
        *sorted(named, key=lambda each: each[1]),
    )
    listed = repository.run("ls-tree", "-r", tree).stdout.decode().splitlines()
    expected = {line.split("\t")[1]: line.split()[0] for line in listed}
    assert {path: file.mode for path, file in files(repository, tree).items()} == expected
    assert "a/f" in expected


def test_a_folder_in_a_files_place_is_no_content(repository: Repository) -> None:
    tree = raw_tree(repository, ("100644", "a", EMPTY))
    edit_tree(repository, EMPTY, {})
    with pytest.raises(LanewrightError, match="is a tree, and no file's content"):
        read_blobs(repository, [files(repository, tree)["a"].blob])


@pytest.mark.parametrize("cut", [1, 19, 21, 25])
def test_a_tree_that_ends_within_an_entry_is_refused(repository: Repository, cut: int) -> None:
    [blob] = write_blobs(repository, [b"x"])
    tree = raw_tree(repository, ("100644", "a", blob[: 40 - 2 * min(cut, 20)]))
    with pytest.raises(LanewrightError, match="no sound tree"):
        files(repository, tree)


def test_folders_that_are_nested_too_deep_are_refused(repository: Repository) -> None:
    [blob] = write_blobs(repository, [b"x"])
    tree = edit_tree(repository, EMPTY, {"f": File("100644", blob)})
    for _ in range(1500):
        tree = TreeId(objects_of(repository).write("tree", [b"40000 d\0" + bytes.fromhex(tree)])[0])
    for reading in (lambda: files(repository, tree), lambda: changes(repository, EMPTY, tree)):
        with pytest.raises(LanewrightError, match="nested too deep"):
            reading()
