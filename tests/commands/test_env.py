"""``env``: what a shell evaluates is what was meant."""

import os
import subprocess

import pytest

from tests.commands.stand_in_lane import Lay

NOTE = r'note = "\u3164\u001b[2J\u202e"'


def test_what_nobody_sees_is_there_as_it_is(
    lay: Lay, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written out it would be another folder, and another value."""
    world = lay()
    state = world.root.parent / "state-\u3164\udce9"
    monkeypatch.setenv("LANEWRIGHT_STATE", str(state))
    counter = "moe_usage_counter = true"
    world.edit("series/sample.toml", counter, f"{counter}\n{NOTE}")
    assert world.run("build") == 0
    capfdbinary.readouterr()
    assert world.run("env") == 0
    script = capfdbinary.readouterr().out + b'eval "set -- $LANE_FLAGS"\n'
    script += b'cd "$EXPERT_BANK_STATS" && pwd\nfor last; do :; done; printf %s "$last"\n'
    shell = subprocess.run(["sh"], input=script, capture_output=True, check=True)
    folder = os.fsencode(state / "stats" / "sample")
    assert shell.stdout == folder + "\n--note=\u3164\x1b[2J\u202e".encode()
