"""Whether a folder has all that vLLM would load of it."""

import json
import os
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.named_weights import require_whole
from tests.serve.hub import in_time

SAFETENSORS, BIN = "model.safetensors.index.json", "pytorch_model.bin.index.json"


def laid(folder: Path, *names: str, **indexes: object) -> Path:
    """Files that are there, and indexes by ``safetensors``, ``bin`` or ``other``."""
    places = {"safetensors": SAFETENSORS, "bin": BIN, "other": "assets.index.json"}
    for name in names:
        (folder / name).touch()
    for kind, content in indexes.items():
        (folder / places[kind]).write_text(json.dumps(content))
    return folder


def index(*names: str) -> dict[str, object]:
    return {"metadata": {}, "weight_map": dict(enumerate(names))}


def test_only_the_index_of_what_vllm_loads_is_asked(tmp_path: Path) -> None:
    """A hub has both formats; whoever downloads one of them has the other's index all the same."""
    safetensors, binary = index("model-1.safetensors"), index("pytorch_model-1.bin")
    require_whole(
        laid(tmp_path, "model-1.safetensors", safetensors=safetensors, bin=binary), "lane"
    )
    (tmp_path / "model-1.safetensors").unlink()
    with pytest.raises(LanewrightError, match=r"it lacks model-1\.safetensors$"):
        require_whole(tmp_path, "lane")
    require_whole(laid(tmp_path, "pytorch_model-1.bin"), "lane")


def test_mistrals_own_files_go_first(tmp_path: Path) -> None:
    lacking = index("model-1.safetensors", "model-2.safetensors")
    laid(tmp_path, "model-1.safetensors", safetensors=lacking)
    with pytest.raises(LanewrightError, match=r"it lacks model-2\.safetensors$"):
        require_whole(tmp_path, "lane")
    require_whole(laid(tmp_path, "consolidated.safetensors"), "lane")


@pytest.mark.parametrize(
    "name", ["model.safetensors", "model.bin", "model.pt", "model-Q4_K_M.gguf", "consolidated.pth"]
)
def test_one_file_of_weights_is_whole(tmp_path: Path, name: str) -> None:
    require_whole(laid(tmp_path, name, other={"files": []}), "lane")


@pytest.mark.parametrize("name", ["training_args.bin", "optimizer.pt", "README.md"])
def test_what_is_no_weights_is_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(LanewrightError, match="it lacks a file of weights"):
        require_whole(laid(tmp_path, name), "lane")


def test_what_a_download_left_out_is_named(tmp_path: Path) -> None:
    shards = index("model-1.safetensors", "model-2.safetensors", "model-3.safetensors")
    with pytest.raises(
        LanewrightError, match=r"it lacks model-1\.safetensors, and 1 more"
    ) as error:
        require_whole(laid(tmp_path, "model-3.safetensors", safetensors=shards), "lane")
    assert error.value.hint == "end its download: `hf download` goes on where it was"


@pytest.mark.parametrize(
    "content", ["[]", "{}", "", '{"weight_map": {"a": 1}}', '{"weight_map": []}', "[" * 100_000]
)
def test_a_damaged_index_is_told(tmp_path: Path, content: str) -> None:
    (laid(tmp_path, "model.safetensors") / SAFETENSORS).write_text(content)
    with pytest.raises(LanewrightError, match=f"its index is damaged: {SAFETENSORS}: ") as error:
        require_whole(tmp_path, "lane")
    assert error.value.hint
    assert error.value.hint.startswith(f"`rm {tmp_path / SAFETENSORS}`")


def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(laid(tmp_path, "model.safetensors") / SAFETENSORS)
    with in_time():
        require_whole(tmp_path, "lane")
