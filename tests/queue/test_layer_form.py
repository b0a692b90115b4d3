"""A lock that an earlier lanewright wrote: of another form of layer, and no damage."""

import json

import msgspec
import pytest

from lanewright.queue.lock import encode, layer_of, read_lock, sealed
from tests.conftest import World


def test_a_layer_of_the_first_form_is_out_of_date(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    table = '[image]\nsite_packages = "/usr/lib/python3/dist-packages"\n\n# the hook'
    world.edit("series/sample.toml", "# the hook", table)
    assert world.run("build") == 0
    lock = read_lock(world.lock)
    assert lock
    layer = msgspec.structs.replace(layer_of(lock), version="")
    old = sealed(msgspec.structs.replace(lock, layer=layer, inputs="0" * 64))
    world.lock.write_bytes(encode(old))
    assert "version" not in json.loads(world.lock.read_text())["layer"]
    capfd.readouterr()
    assert world.run("image") == 4
    assert "its layer is of the form of an earlier lanewright" in capfd.readouterr().err
    assert world.run("build") == 0
    assert read_lock(world.lock) == lock
