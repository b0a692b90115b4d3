"""Runs that fail are recorded, too, as far as they came."""

import os
import re
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.queue.series_model import ModelSpec
from lanewright.serve.child import BootError
from lanewright.serve.equality.asked import Asked
from lanewright.serve.port import HOST
from lanewright.serve.run import told
from lanewright.serve.served import Wants
from lanewright.serve.summary import summary
from lanewright.serve.wanted import Wanted
from tests.serve.sample_run import latest, run
from tests.serve.stand_in import lay_pin, lay_stand_in

BANKS = {"moe_hot_experts": "5"}
ASKED = Asked(prompts=20, tokens=24, together=(16,))


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("lies", "verdict", "why"),
    [
        ({"flip": {"place": [1, 3], "what": "logprob"}}, "differs", "eager: differs (off, on)"),
        ({"vocabulary": 9}, "inconclusive", "eager: inconclusive (the answers hold 9 distinct"),
        # Here pin and lane have no folder in common.
        (
            {"tunes": ["gemm"]},
            "not compared",
            (
                "eager: not compared (off is not compared: its kernels were tuned otherwise: of 1"
                " tactics 1 other; on is not compared: "
            ),
        ),
    ],
)
def test_an_equality_that_fails_is_recorded_whole(
    places: Places, tmp_path: Path, lies: dict[str, Any], verdict: str, why: str
) -> None:
    lay_pin(tmp_path / "pin", **(lies if verdict != "differs" else {}))
    env = lay_stand_in(tmp_path, lies=lies)
    with pytest.raises(MismatchError, match=f"with its baseline: {verdict}\n") as caught:
        run(places, env, Wanted(server=False, modes=("eager",)))
    assert why in str(caught.value)
    record = latest(places)
    found = "; which hunk it is: `lanewright bisect sample --equal`"
    more = found if verdict == "differs" else ""
    assert caught.value.hint == f"every answer is in {record['folder']}/equality{more}"
    assert (record["verdict"], record["error"]["exit_code"]) == ("failed", 5)
    assert record["equality"]["verdict"] == verdict
    assert why in summary(record)
    assert f"  error    lane sample: equality with its baseline: {verdict}" in summary(record)


@pytest.mark.usefixtures("model")
def test_two_banks_that_differ_say_that_every_row_is_as_loaded(
    places: Places, tmp_path: Path
) -> None:
    lay_pin(tmp_path / "pin")
    lies = {"flip": {"place": [3, 17], "what": "token", "only_on": True}}
    wanted = Wanted(server=False, modes=("eager",))
    with pytest.raises(MismatchError, match="with its baseline: differs\n") as caught:
        run(places, lay_stand_in(tmp_path, lies=lies), wanted, engine=BANKS, asked=ASKED)
    message = latest(places)["error"]["message"]
    assert message == str(caught.value)
    assert "\n      prompt 3 " in message
    *_, on, swaps, follows, mapped = message.splitlines()
    for arm, line in (("on", on), ("swaps", swaps), ("follows", follows), ("mapped", mapped)):
        assert line.startswith(f"  eager.{arm}, moe_hot_experts: ")
        assert "; every expert's row is as it was loaded; RowTable own" in line


@pytest.mark.usefixtures("model")
def test_two_banks_that_differ_say_which_rows_are_wrong(places: Places, tmp_path: Path) -> None:
    lay_pin(tmp_path / "pin")
    env = lay_stand_in(tmp_path, lies={"torn": 1})
    wanted = Wanted(server=False, modes=("eager",))
    with pytest.raises(MismatchError):
        run(places, env, wanted, engine=BANKS, asked=ASKED)
    record = latest(places)
    assert (record["verdict"], record["error"]["exit_code"]) == ("failed", 5)
    message = record["error"]["message"]
    assert re.search(r"\n    swaps: \d+/20 equal\n      prompt \d+ .*, index \d+: ", message)
    *_, last = message.splitlines()
    row = r"  model\.layers\.1\.mlp\.experts, expert \d: hot row \d of w2 is not what was loaded"
    assert re.fullmatch(row, last)


@pytest.mark.usefixtures("model")
def test_a_missing_baseline_is_recorded_without_a_verdict(places: Places, tmp_path: Path) -> None:
    lay_pin(tmp_path / "pin", dies=True)
    with pytest.raises(BootError):
        run(places, lay_stand_in(tmp_path), Wanted(server=False, modes=("eager",)))
    record = latest(places)
    assert (record["verdict"], record["equality"]) == ("failed", None)
    assert record["error"]["exit_code"] == 1
    assert record["boots"]["offline"]["proofs"]
    assert "  error    no baseline, so nothing was compared" in summary(record)


@pytest.mark.usefixtures("model")
def test_a_failed_boot_is_recorded(places: Places, tmp_path: Path) -> None:
    with pytest.raises(BootError):
        run(places, lay_stand_in(tmp_path, lies={"dies": True}))
    record = latest(places)
    assert record["verdict"] == "failed"
    assert record["error"]["exit_code"] == 1
    assert "told to die" in record["error"]["message"]
    assert record["environment"]["vllm"] is None
    assert "error    offline ended with exit status 1" in summary(record)


@pytest.mark.usefixtures("model")
def test_a_mismatch_is_recorded(places: Places, tmp_path: Path) -> None:
    with pytest.raises(MismatchError):
        run(places, lay_stand_in(tmp_path, plugin=False))
    assert latest(places)["error"]["exit_code"] == 5


def interrupt_once(log: str, state: Path) -> None:
    """Send Ctrl-C to this process once an engine has written something."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if any("told to hang" in file.read_text() for file in state.rglob(log)):
            os.kill(os.getpid(), signal.SIGINT)
            return
        time.sleep(0.05)


@pytest.mark.usefixtures("model")
def test_an_interrupt_is_recorded(places: Places, tmp_path: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    other = threading.Thread(target=interrupt_once, args=("offline.log", places.state))
    other.start()
    with pytest.raises(KeyboardInterrupt):
        run(places, lay_stand_in(tmp_path, lies={"hangs": True}))
    other.join()
    record = latest(places)
    assert record["error"] == {"message": "KeyboardInterrupt", "exit_code": 130}
    assert record["boots"] == {"offline": None, "server": None}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LanewrightError("it"), 1),
        (MismatchError("it"), 5),
        (OSError(28, "No space left on device"), 1),
        (KeyboardInterrupt(), 130),
        (SystemExit(143), 143),
        (ValueError("it"), 70),
    ],
)
def test_an_error_is_recorded_with_the_code_the_process_ends_with(
    error: BaseException, code: int
) -> None:
    assert told(error)["exit_code"] == code


def test_a_run_that_was_told_to_stop_says_by_what() -> None:
    assert told(SystemExit(143))["message"] == "stopped: was ended by SIGTERM"


def test_a_busy_port_is_told_before_anything_is_written(places: Places, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LanewrightError, match=f"port {port}"):
            run(places, lay_stand_in(tmp_path), Wanted(port=port))
    assert not places.state.exists()


def test_an_unknown_recipe_is_told_before_anything_is_written(
    places: Places, tmp_path: Path
) -> None:
    with pytest.raises(LanewrightError, match="no model recipe 'other'"):
        run(places, lay_stand_in(tmp_path), model=Wants("sample", ModelSpec(recipe="other")))
    assert not places.state.exists()
