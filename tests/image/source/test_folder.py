"""What is written to build a lane from source, and what it gives of upstream's."""

import shutil
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.lock import layer_of
from lanewright.store.objects import entries
from tests.image.source.conftest import OVERLAY, PULL, SOURCE, Compiled, lay
from tests.upstream.diff import git

Capture = pytest.CaptureFixture[str]


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_an_overlay_lane_is_told_that_it_could_be_built_from_source(
    compiled: Compiled, capfd: Capture
) -> None:
    compiled.image(OVERLAY)
    assert compiled.lane.run("build") == 1
    error = capfd.readouterr().err
    assert "series/sample.toml (7): vllm/fast.c needs compiling" in error
    assert 'kind = "source"' in error
    compiled.image(SOURCE)
    assert compiled.lane.run("build") == 0
    assert compiled.lane.run("image") == 1
    assert "lanewright image source sample --out DIR" in capfd.readouterr().err
    with pytest.raises(LanewrightError, match="has no layer"):
        layer_of(compiled.lane.lock)
    assert compiled.lane.run("verify") == 0


def test_the_source_is_the_lanes_tree_with_what_the_pull_request_has_outside(
    compiled: Compiled, tmp_path: Path, capfd: Capture
) -> None:
    told = compiled.written(tmp_path / "out")
    captured = capfd.readouterr()
    assert "#7: csrc/more.c, csrc/new.h; 1 other file of it outside vllm/ left" in captured.err
    assert captured.out == f"{tmp_path / 'out'}\n"
    done = lay(tmp_path / "out", tmp_path / "source", compiled.lane.upstream)
    assert done.returncode == 0, done.stderr
    vllm = entries(compiled.lane.repository, compiled.lane.lock.tree)["vllm"].blob
    assert git(tmp_path / "source", "write-tree", "--prefix=vllm/").decode().strip() == vllm
    assert told["tree"] == vllm
    for path in ("csrc/more.c", "csrc/new.h", "vllm/fast.c"):
        assert (tmp_path / "source" / path).read_bytes() == PULL[path]
    assert (tmp_path / "source/docs/more.md").read_text() == "1\n"
    assert (tmp_path / "out/beside/beside/__init__.py").read_text() == '"""Ours."""\n'


def test_the_source_is_fetched_from_the_remote_where_no_clone_is_handed_over(
    compiled: Compiled, tmp_path: Path
) -> None:
    compiled.written(tmp_path / "out")
    (tmp_path / "empty").mkdir()
    git(compiled.lane.upstream, "config", "uploadpack.allowAnySHA1InWant", "true")
    remote = compiled.lane.upstream.as_uri()
    done = lay(tmp_path / "out", tmp_path / "source", tmp_path / "empty", remote)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "source")
    done = lay(tmp_path / "out", tmp_path / "source", tmp_path / "empty", str(tmp_path / "gone"))
    assert done.returncode == 1
    assert f"{compiled.pin} cannot be fetched from {tmp_path / 'gone'}" in done.stderr


def test_two_runs_write_the_same_and_nothing_is_written_over(
    compiled: Compiled, tmp_path: Path, capfd: Capture
) -> None:
    compiled.written(tmp_path / "one")
    compiled.written(tmp_path / "two")
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".")} == set()
    (tmp_path / "one/lane.patch").write_text("mine")
    assert compiled.lane.run("image", "source", "--out", str(tmp_path / "one")) == 1
    assert f"{tmp_path / 'one'} is there already" in capfd.readouterr().err
    assert (tmp_path / "one/lane.patch").read_text() == "mine"


def test_parts_bring_what_is_outside_only_where_they_call_an_op_of_it(
    compiled: Compiled, tmp_path: Path
) -> None:
    bindings = "csrc/torch_bindings.cpp"
    call = b"import torch\n\n\ndef new(x):\n    return torch.ops._C.new(x)\n"
    lane = compiled.lane
    lane.push(
        7,
        compiled.pin,
        {**PULL, bindings: b'ops.def("new(Tensor! x) -> ()");\n', "vllm/_custom_ops.py": call},
    )
    assert lane.run("drop", "7") == 0
    assert lane.run("add", "7:vllm/plain.py") == 0
    assert compiled.written(tmp_path / "plain")["pulls"] == []
    assert lane.run("add", "7:vllm/_custom_ops.py") == 0
    [pull] = compiled.written(tmp_path / "op")["pulls"]
    assert bindings in pull["files"]
    compiled.image(OVERLAY)
    assert lane.run("build") == 1
