"""What no network keeps from being asked is left out; whatever else goes wrong there is a failure."""

import shutil
import socket

import pytest

from lanewright.errors import UNREACHED
from tests.commands.stand_in_lane import Lay
from tests.nightly.nights import night, step_of, verdicts
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def nobody() -> str:
    """An address on this machine at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"git://127.0.0.1:{free.getsockname()[1]}/vllm"


def asked_at(world: Carrying, url: str) -> None:
    """Have upstream be somewhere else, and another pull request be wanted of it."""
    upstream = world.root / "upstream.toml"
    text = upstream.read_text()
    assert str(world.upstream) in text
    upstream.write_text(text.replace(str(world.upstream), url))
    series = world.root / "series/sample.toml"
    series.write_text(series.read_text().replace("[model]", "watch = [96177]\n\n[model]"))


def test_a_remote_that_nobody_answers_at_is_left_out(
    carrying: Carrying, nobody: str, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lanewright.store.network.PAUSES", ())
    asked_at(carrying, nobody)
    capfd.readouterr()
    assert carrying.run("fetch") == 1
    err = capfd.readouterr().err.splitlines()
    assert UNREACHED in err
    carrying.run("nightly")
    fetch = step_of(night(carrying), "sample", "fetch")
    assert (fetch["verdict"], fetch["exit_code"]) == ("left out", 1)
    assert fetch["why"].startswith(f"cannot reach {nobody}: ")


def test_an_address_that_is_none_is_a_failure(carrying: Carrying) -> None:
    asked_at(carrying, "/there/is/no/such/clone")
    assert carrying.run("nightly") == 1
    fetch = step_of(night(carrying), "sample", "fetch")
    assert (fetch["verdict"], fetch["exit_code"]) == ("failed", 1)
    assert "/there/is/no/such/clone" in fetch["why"]


def test_a_store_that_is_damaged_is_a_failure(lay: Lay) -> None:
    world = lay()
    shutil.rmtree(world.places.objects)
    world.places.objects.write_text("no repository")
    assert world.run("nightly") == 1
    assert verdicts(night(world), "sample")["fetch"] == "failed"
