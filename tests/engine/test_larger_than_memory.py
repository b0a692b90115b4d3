"""A model whose experts are larger than the memory that its process may have is served from a file.

The kernel holds the limit, over all that the process takes from its first import on, swap and file cache
among it. The same limit ends vLLM without two banks, and a mirror is refused.
"""

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from expert_bank.cold_folder import FOLDER, USUAL
from lanewright.guarded import SIGNALLED
from lanewright.serve.model import make
from lanewright.serve.recipes import RECIPES
from tests.engine.lane_python import Laid
from tests.engine.limited_boot import Ended, boot
from tests.engine.memory_group import NoGroupError, limited

pytestmark = pytest.mark.engine_full

MIB = 2**20
LIMIT = 1024 * MIB
GROUP = f"lanewright-{os.getpid()}"
# The smallest tensor of a layer's rows is 33 MiB: what is freed of up to 32 glibc may keep.
RECIPE = {
    **RECIPES["qwen3-moe-tiny"],
    "hidden_size": 512,
    "moe_intermediate_size": 704,
    "num_experts": 48,
    "num_hidden_layers": 16,
}
ROW = 3 * 2 * RECIPE["hidden_size"] * RECIPE["moe_intermediate_size"]  # bfloat16
EXPERTS = RECIPE["num_hidden_layers"] * RECIPE["num_experts"] * ROW
ENGINE = {
    "max_model_len": 256,
    "max_num_seqs": 2,
    "enforce_eager": True,
    "kv_cache_memory_bytes": 16 * MIB,
}
PROMPTS = ("The lane is open", "def barrier(rows):")
TOKENS = 8


def asked(rows: str | None = None) -> dict[str, Any]:
    """Of an engine whose cold rows are in a mode; None for no banks."""
    banks = {"moe_hot_experts": "2", "moe_cold_rows": rows} if rows else {}
    return {"engine": {**ENGINE, **banks}, "prompts": PROMPTS, "max_tokens": TOKENS}


@pytest.fixture(scope="module")
def ended(
    laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Ended]]:
    """Engines without a limit and with one, by name."""
    try:
        with limited(GROUP, LIMIT):
            pass
    except NoGroupError as error:
        pytest.skip(f"no group with a limit of memory can be made: {error}")
    folder = tmp_path_factory.mktemp("larger")
    lane = laid("0.32.0", "cpu-file").lane
    # Not where other temporary files go: that may be memory, and outside of the group.
    with tempfile.TemporaryDirectory(dir=os.environ.get(FOLDER, USUAL)) as disk:
        ours = Laid(lane, Path(disk) / "model")
        plain = replace(ours, lane=replace(lane, env=lane.pin))
        make(lane.env, json.dumps(RECIPE), ours.model)
        found = {"unlimited": boot(plain, asked(), folder=folder / "unlimited")}
        arms = {"file": (ours, "file"), "plain": (plain, None), "mirror": (ours, "mirror")}
        for arm, (side, rows) in arms.items():
            with limited(GROUP, LIMIT) as group:
                found[arm] = boot(side, asked(rows), folder=folder / arm, group=group)
        yield found


def test_the_experts_take_half_as_much_again_as_the_limit() -> None:
    assert EXPERTS >= 1.5 * LIMIT


def test_from_a_file_it_is_served_within_the_limit(ended: Mapping[str, Ended]) -> None:
    file = ended["file"]
    assert (file.status, file.killed) == (0, 0), file.log[-2000:]
    # The files that it maps fill what is left: the kernel had to take pages of them back.
    assert file.reached
    assert file.told["anonymous"] < LIMIT
    banks = file.told["banks"]
    assert banks["row_bytes"] == [ROW] * RECIPE["num_hidden_layers"]
    assert (banks["file"]["kept"], banks["failed"], banks["audit"]) == (0, 0, [])
    assert banks["file"]["bytes"] >= EXPERTS


def test_it_answers_as_without_a_limit(ended: Mapping[str, Ended]) -> None:
    ids = ended["unlimited"].told["ids"]
    assert ended["file"].told["ids"] == ids
    assert [len(each) for each in ids] == [TOKENS] * 2
    assert len({token for each in ids for token in each}) > TOKENS


def test_without_banks_the_limit_kills_it_as_it_loads(ended: Mapping[str, Ended]) -> None:
    plain = ended["plain"]
    assert (plain.status, plain.killed) == (SIGNALLED + signal.SIGKILL, 1), plain.log[-2000:]
    assert plain.reached
    assert plain.told == {}
    # What it is killed for is what it has where nobody limits it.
    assert ended["unlimited"].told["anonymous"] >= EXPERTS
    assert "Starting to load model" in plain.log


def test_a_mirror_is_refused_by_the_groups_limit(ended: Mapping[str, Ended]) -> None:
    mirror = ended["mirror"]
    assert (mirror.status, mirror.killed) == (1, 0)
    assert f"{GROUP}/memory." in mirror.log
    assert "the two-bank does not fit" in mirror.log
    assert "set moe_cold_rows file" in mirror.log
