"""Lines of a window and the night's hook: what they start ends with them, but for a restored server."""

import json
import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from lanewright.nightly import hook
from lanewright.nightly.lines import run_lasting, run_line
from tests.nightly.steps import Quick, asked_for
from tests.nightly.test_left_stopped import until
from tests.process import finish, started

Capture = pytest.CaptureFixture[str]


def grows_no_more(file: Path) -> bool:
    """Whether nothing writes there any longer."""
    before = file.read_text()
    time.sleep(0.5)
    return file.read_text() == before


def test_what_takes_too_long_is_ended_with_all_of_it(tmp_path: Path) -> None:
    told, log = tmp_path / "told", tmp_path / "log"
    line = f"(while :; do echo on >>{told}; sleep 0.05; done) & wait"
    assert run_line(line, tmp_path, log, 1) == "it did not end within 1 s"
    assert grows_no_more(told)


def test_what_has_a_group_of_its_own_ends_too(tmp_path: Path) -> None:
    """``timeout`` makes one, and a line may well be cut by it."""
    told, log = tmp_path / "told", tmp_path / "log"
    loop = f"while :; do echo on >>{told}; sleep 0.05; done"
    line = f"true; timeout 30 sh -c '{loop}'; true"
    assert run_line(line, tmp_path, log, 1) == "it did not end within 1 s"
    assert grows_no_more(told)


def test_what_it_leaves_in_the_background_ends_too(tmp_path: Path) -> None:
    told, log = tmp_path / "told", tmp_path / "log"
    line = f"echo on >{told}; (while :; do echo on >>{told}; sleep 0.05; done) & sleep 0.2"
    assert run_line(line, tmp_path, log, 60) == ""
    assert grows_no_more(told)


@pytest.mark.parametrize("wait", ["true", "sleep 60"])
def test_what_was_restored_stays(tmp_path: Path, wait: str) -> None:
    told, log, enough = (tmp_path / name for name in ("told", "log", "enough"))
    # The folder may be gone before its end is seen.
    line = f"(while test -d {tmp_path} -a ! -e {enough}; do echo on >>{told}; sleep 0.05; done) & sleep 0.2; {wait}"
    failed = run_lasting(line, tmp_path, log, 2)
    assert failed == ("" if wait == "true" else "it did not end within 2 s")
    assert not grows_no_more(told)
    enough.touch()


@pytest.mark.parametrize("run", [run_line, run_lasting])
def test_a_log_that_cannot_be_written_keeps_nothing_from_running(
    tmp_path: Path, capfd: Capture, run: object
) -> None:
    assert callable(run)
    for log in (Path("/dev/full"), tmp_path / "none" / "log"):
        assert run(f"echo a; touch {tmp_path}/ran", tmp_path, log, 60) == ""
        (tmp_path / "ran").unlink()
        assert f"{log} cannot be written" in capfd.readouterr().err


def test_a_disk_that_is_full_meanwhile_keeps_nothing_from_being_restored(tmp_path: Path) -> None:
    """The line's own words are lost, and fail it: it runs again without them."""
    log, done = tmp_path / "log", tmp_path / "done"
    # The log takes the line, and no more.
    line = f"test -d {log} || {{ rm {log}; mkdir {log}; exit 1; }}; touch {done}"
    assert run_lasting(line, tmp_path, log, 60) == ""
    assert done.exists()


def test_where_its_folder_is_gone_it_runs_at_the_root(tmp_path: Path) -> None:
    told = tmp_path / "told"
    assert run_lasting(f"pwd >{told}", tmp_path / "gone", tmp_path / "log", 60) == ""
    assert told.read_text() == "/\n"


def test_a_hook_that_hangs_is_ended_with_all_of_it(
    quick: Quick, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "SECONDS", 1.0)
    world = quick()
    told = world.root.parent / "told"
    asked_for(world, notify=f"(while :; do echo on >>{told}; sleep 0.05; done) & wait")
    assert world.run("nightly") == 0
    assert grows_no_more(told)
    assert "notify: did not end within 1 s, and was ended" in capfd.readouterr().err


def test_what_a_hook_says_is_no_data(quick: Quick, capfd: Capture) -> None:
    world = quick()
    asked_for(world, notify="echo sent; cat >told")
    assert world.run("nightly", "--json") == 0
    out, err = capfd.readouterr()
    assert json.loads(out) == json.loads((world.root / "told").read_text())
    assert "sent" in err.splitlines()


@pytest.mark.parametrize("key", ["drain", "stop", "restore", "lock"])
def test_a_line_with_what_no_line_has_is_refused(quick: Quick, capfd: Capture, key: str) -> None:
    world = quick()
    lines = {"restore": "true", key: "/a\0b"}
    series = world.root / "series/sample.toml"
    window = "".join(f"{name} = {json.dumps(line)}\n" for name, line in lines.items())
    series.write_text(f"{series.read_text()}\n[window]\n{window}")
    assert world.run("status") == 1
    assert f"{series}: [window] {key}: '/a\\x00b' has a character" in capfd.readouterr().err


def test_a_hook_with_what_no_line_has_is_refused(quick: Quick, capfd: Capture) -> None:
    world = quick()
    with (world.root / "upstream.toml").open("a") as upstream:
        upstream.write('\n[nightly]\nnotify = "mail\\u0007"\n')
    assert world.run("nightly") == 1
    told = f"{world.root}{os.sep}upstream.toml: [nightly] notify: 'mail\\x07' has a character"
    assert told in capfd.readouterr().err


OWNER = """\
import sys
from pathlib import Path
from lanewright import guarded
from lanewright.nightly.lines import run_line
# Longer than any test waits.
guarded.GRACE = 600.0
run_line(sys.argv[1], Path("/"), Path(sys.argv[2]), float(sys.argv[3]))
"""


@pytest.mark.parametrize("seconds", [60, 0.5], ids=["while it runs", "while it is ended"])
@pytest.mark.parametrize("group", ["", "timeout 300 "], ids=["its group", "another group"])
def test_what_hears_no_signal_ends_with_a_night_that_is_killed(
    tmp_path: Path, seconds: float, group: str
) -> None:
    told = tmp_path / "told"
    # It tells that it runs, and that it was asked to end.
    loop = f"trap 'echo asked >>{told}' TERM; echo $$ >>{told}; while :; do sleep 0.05; done"
    words = [f"true; {group}sh -c {shlex.quote(loop)}; true", str(tmp_path / "log"), str(seconds)]
    owner = started([sys.executable, "-c", OWNER, *words], os.environ)
    lines = 2 if seconds < 1 else 1
    until(lambda: told.exists() and len(told.read_text().splitlines()) >= lines, owner)
    number, *_ = told.read_text().splitlines()
    owner.kill()
    finish(owner)
    deadline = time.monotonic() + 60
    while Path("/proc", number).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
