"""``lanewright usage`` asks a running server, here a stand-in."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from lanewright.serve.model import model_name, recipe_hash
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.recipes import RECIPES
from lanewright.serve.usage import read_usage
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
    world.edit("series/sample.toml", 'recipe = "qwen3-moe-tiny"', f'recipe = "{RECIPE}"')
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


HONEST = {"model": "m", "layers": ["a"], "picks_per_token": 1, "tokens": 2, "counts": [[1, 1]]}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        5,
        "text",
        [{"foo": 1}],
        [[1]],
        ["text"],
        [{**HONEST, "counts": [[]]}],
        [{**HONEST, "counts": []}],
        [{**HONEST, "counts": [[1], [1]]}],
        [{**HONEST, "layers": ["a", "b"], "counts": [[1, 1], [2]]}],
        [{**HONEST, "counts": [[-1, 3]]}],
        [{**HONEST, "counts": [[10**20, 0]]}],
        [{**HONEST, "tokens": None}],
    ],
)
def test_an_answer_that_is_no_usage_is_refused(answer: object) -> None:
    assert read_usage([HONEST, None]) == [HONEST, None]
    with pytest.raises(msgspec.ValidationError):
        read_usage(answer)


def test_a_foreign_server_is_told(served: World, capfd: Capture) -> None:
    with foreign(b'{"results": [{"foo": 1}]}') as port:
        assert served.run("usage", "--port", str(port)) == 1
    assert "does not tell its usage: Object missing required field" in capfd.readouterr().err
    with foreign(b"[" * 200_000) as port:
        assert served.run("usage", "--port", str(port)) == 1
    assert "did not answer with JSON" in capfd.readouterr().err


@contextmanager
def foreign(body: bytes) -> Iterator[int]:
    """Have a server that answers everything with one body while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    with HTTPServer((HOST, 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_no_server_is_told(served: World, capfd: Capture) -> None:
    port = usable_port(None)
    assert served.run("usage", "--port", str(port)) == 1
    err = capfd.readouterr().err
    assert err.startswith(f"lanewright: nothing listens on 127.0.0.1:{port}, so there is no server")
    assert "next: start the server, or name its --port" in err


@pytest.mark.parametrize("port", ["0", "70000", "many"])
def test_what_is_no_port_ends_with_2(served: World, port: str) -> None:
    with pytest.raises(SystemExit) as ended:
        served.run("usage", "--port", port)
    assert ended.value.code == 2
