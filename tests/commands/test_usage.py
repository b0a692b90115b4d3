"""``lanewright usage`` asks a running server, here a stand-in."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from lanewright.serve.model import RECIPES, model_name, recipe_hash
from lanewright.serve.port import usable_port
from tests.conftest import World
from tests.serve.stand_in import lay_stand_in, running

Capture = pytest.CaptureFixture[str]
(RECIPE, *_) = RECIPES
ON = (
    f"--model=/models/{model_name(RECIPE)}",
    "--moe-usage-counter",
    "--worker-cls=expert_bank.glue.cpu_worker.CPUWorker",
)


@pytest.fixture
def served(world: World) -> World:
    """The sample project, whose lane names a model recipe that there is."""
    world.edit("series/sample.toml", 'recipe = "none"', f'recipe = "{RECIPE}"')
    return world


def test_each_layers_picks_are_told(served: World, tmp_path: Path, capfd: Capture) -> None:
    with running(lay_stand_in(tmp_path), tmp_path, "model", *ON) as port:
        assert served.run("usage", "--port", str(port)) == 0
    assert capfd.readouterr().out.splitlines() == [
        f"model.layers.{layer}.mlp.experts: 0 picks of 8 experts, none yet; 8 never picked"
        for layer in range(3)
    ]


def test_counts_come_as_json_and_as_parquet(served: World, tmp_path: Path, capfd: Capture) -> None:
    out = tmp_path / "map.parquet"
    with running(lay_stand_in(tmp_path, lies={"more_picks": 5}), tmp_path, "model", *ON) as port:
        assert served.run("usage", "--json", "--port", str(port)) == 0
        counted = json.loads(capfd.readouterr().out)
        assert served.run("usage", "--out", str(out), "--port", str(port)) == 0
    assert counted["model.layers.0.mlp.experts"] == [5, 0, 0, 0, 0, 0, 0, 0]
    assert capfd.readouterr().out == f"{out}\n"
    table = parquet.read_table(out)
    assert table.column("count").to_pylist() == [5] + 23 * [0]
    assert table.schema.field("count").type == pa.int64()
    assert table.schema.metadata[b"model"].decode() == recipe_hash(RECIPE)


def test_a_server_of_another_model_is_told(served: World, tmp_path: Path, capfd: Capture) -> None:
    out = tmp_path / "map.parquet"
    with running(lay_stand_in(tmp_path), tmp_path, "other", *ON, "--model=/models/other") as port:
        assert served.run("usage", "--out", str(out), "--port", str(port)) == 1
    err = capfd.readouterr().err
    assert f"the server on port {port} serves other, and lane sample is about {RECIPE}-" in err
    assert not out.exists()


def test_a_server_that_does_not_count_is_told(
    served: World, tmp_path: Path, capfd: Capture
) -> None:
    with running(lay_stand_in(tmp_path), tmp_path, "model") as port:
        assert served.run("usage", "--port", str(port)) == 1
    err = capfd.readouterr().err
    assert f"the server on port {port} does not count picks" in err
    assert "next: start it with --moe-usage-counter" in err


def test_no_server_is_told(served: World, capfd: Capture) -> None:
    port = usable_port(None)
    assert served.run("usage", "--port", str(port)) == 1
    err = capfd.readouterr().err
    assert (
        f"the server on port {port} does not tell its usage: /collective_rpc got no answer" in err
    )
    assert "next: start it with VLLM_SERVER_DEV_MODE=1" in err


@pytest.mark.parametrize("port", ["0", "70000", "many"])
def test_what_is_no_port_ends_with_2(served: World, port: str) -> None:
    with pytest.raises(SystemExit) as ended:
        served.run("usage", "--port", port)
    assert ended.value.code == 2
