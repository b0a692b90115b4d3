"""However a step ends, the night tells it, goes on, and ends with a code of its own."""

import os
import time

import pytest

from lanewright.errors import UNREACHED
from tests.nightly.nights import night, step_of, verdicts
from tests.nightly.steps import Quick, asked_for

Capture = pytest.CaptureFixture[str]
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize(
    ("script", "code", "why"),
    [
        (KILLED, 137, "was ended by SIGKILL"),
        (f"print('at arm 3', file=sys.stderr); {KILLED}", 137, "at arm 3\nwas ended by SIGKILL"),
        ("sys.exit(77)", 77, "ended with exit status 77"),
    ],
)
def test_a_step_with_a_code_of_no_meaning_is_a_failure(
    quick: Quick, script: str, code: int, why: str
) -> None:
    world = quick(boot=script)
    assert world.run("nightly") == 1
    boot = step_of(night(world), "sample", "boot")
    assert (boot["verdict"], boot["exit_code"], boot["why"]) == ("failed", code, why)


def test_a_step_without_an_end_is_ended(
    quick: Quick, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanewright.nightly.stepping.SILENCE", 0.5)
    world = quick(boot="import time; time.sleep(60)")
    asked_for(world, step_seconds=2)
    begun = time.monotonic()
    assert world.run("nightly") == 1
    assert time.monotonic() - begun < 60
    boot = step_of(night(world), "sample", "boot")
    assert (boot["verdict"], boot["exit_code"]) == ("failed", 1)
    assert boot["why"] == "made no end within 2 s, and was ended"
    assert "sample boot: still at it (" in capfd.readouterr().err


def test_a_search_that_says_nothing_is_told(quick: Quick) -> None:
    world = quick(boot="sys.exit(5)", bisect="print('no JSON')")
    assert world.run("nightly") == 5
    bisect = step_of(night(world), "sample", "bisect")
    assert bisect["verdict"] == "failed"
    assert "ended with exit status 0, but what it printed tells nothing" in bisect["why"]


def test_only_the_end_of_what_it_said_is_kept(quick: Quick) -> None:
    world = quick(
        boot="sys.stderr.write('lanewright: old\\n' + 'x\\n' * 200_000 + 'y' * 9_000); sys.exit(1)"
    )
    assert world.run("nightly") == 1
    why = step_of(night(world), "sample", "boot")["why"]
    assert why == f"{'y' * 500}... 8500 more characters"


def test_a_name_that_is_no_text_is_read_too(quick: Quick) -> None:
    world = quick()
    (world.root / "overlay").mkdir()
    (world.root / "overlay/caf\udce9").touch()
    assert world.run("nightly") == 0


def test_a_pipe_is_no_night(quick: Quick, capfd: Capture) -> None:
    world = quick()
    folder = world.places.state / "nights/20991231T000000Z"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "night.json")
    assert world.run("nightly", "--resume") == 1
    assert "it is no regular file, or holds nothing" in capfd.readouterr().err


def test_a_page_that_cannot_be_written_is_told(
    quick: Quick, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(world.root))
    asked_for(world, notify="echo told")
    assert world.run("nightly") == 0
    out, err = capfd.readouterr()
    assert f"GITHUB_STEP_SUMMARY: {world.root} cannot be written: Is a directory" in err
    assert "told" in err.splitlines()
    assert "  sample: passed" in out.splitlines()


def test_the_page_says_why_upstream_was_not_asked(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = quick(
        fetch=f"print('lanewright: no network\\n{UNREACHED}', file=sys.stderr); sys.exit(1)",
        boot="print('lanewright: these:\\n- a\\n===', file=sys.stderr); sys.exit(1)",
    )
    page = world.root.parent / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert world.run("nightly") == 1
    assert verdicts(night(world), "sample")["fetch"] == "left out"
    lines = page.read_text().splitlines()
    assert lines[lines.index("**sample fetch**: left out  ") + 1] == "no network  "
    assert lines[lines.index("these:  ") + 1 :][:2] == [r"\- a  ", r"\===  "]
    assert "no \\[window\\]" not in page.read_text()


@pytest.mark.parametrize("name", ["fetch", "rebase"])
@pytest.mark.parametrize(
    "said", ["lanewright: the store is damaged", f"{UNREACHED}\nlanewright: the store is damaged"]
)
def test_what_is_no_matter_of_the_network_is_a_failure(quick: Quick, name: str, said: str) -> None:
    world = quick(**{name: f"print({said!r}, file=sys.stderr); sys.exit(1)"})
    assert world.run("nightly") == 1
    step = step_of(night(world), "sample", {"rebase": "drift"}.get(name, name))
    assert (step["verdict"], step["why"]) == ("failed", "the store is damaged")
