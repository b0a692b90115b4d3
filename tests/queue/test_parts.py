"""What ``bisect`` can leave out: overlays, renamed files, hunks that landed, and what a fix settles."""

import json

import pytest

from tests.conftest import World
from tests.queue.planted import (
    CACHE,
    LIMIT,
    READING,
    RESET,
    ROWS,
    STEP,
    UVA,
    name_of,
    pushed,
    text_of,
)
from tests.queue.scenarios import POOL, TO, carried
from tests.queue.scenarios import ROWS as HOST_ROWS
from tests.transaction.half_done import snapshot
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]


def test_an_overlay_is_one_part(world: World, capfd: Capture) -> None:
    assert world.run("build") == 0
    capfd.readouterr()
    assert world.run("bisect", "--run", "! test -e $LANEWRIGHT_TREE/sample_package") == 0
    printed = capfd.readouterr()
    assert printed.out == (
        "sample_package (overlay/sample_package): 2 files laid in\n"
        "  sample_package-1.dist-info/METADATA\n"
        "  sample_package/__init__.py\n"
    )
    assert printed.err.endswith("  next: lanewright drop sample_package\n")


def test_a_hunk_of_an_own_patch_is_found(world: World, capfd: Capture) -> None:
    assert world.run("build") == 0
    capfd.readouterr()
    command = "! grep -q counter=self.counter $LANEWRIGHT_TREE/vllm/arguments.py"
    assert world.run("bisect", "sample", "--json", "--run", command) == 0
    told = json.loads(capfd.readouterr().out)
    [part] = [each for each in told["parts"] if "untold" not in each]
    assert part["part"].startswith("hook:vllm/arguments.py:")
    assert "+            counter=self.counter," in part["texts"][0]
    # It uses what the other two define, so nothing can be told without them.
    assert len(told["parts"]) == 3
    assert told["good_without"] == [part["part"]]
    assert told["of"] == 4


def test_a_renamed_file_is_one_part(carrying: Carrying, capfd: Capture) -> None:
    new = "vllm/config/moved.py"
    text = text_of(carrying, carrying.main[0], CACHE).replace(*STEP)
    other = text_of(carrying, carrying.main[0], UVA).replace(*LIMIT)
    carrying.push(101, carrying.main[0], {CACHE: None, new: text.encode(), UVA: other.encode()})
    assert carrying.run("add", "101") == 0
    capfd.readouterr()
    assert carrying.run("bisect", "--run", f"! test -e $LANEWRIGHT_TREE/{new}") == 0
    printed = capfd.readouterr()
    assert {line.split(":")[1] for line in printed.out.splitlines() if line.startswith("101:")} == {
        CACHE,
        new,
    }
    assert printed.err.endswith(f"  next: lanewright drop 101:{new}\n")
    assert carrying.run("drop", f"101:{new}") == 0
    assert {h.path for h in carrying.lock.entries[0].hunks if h.outcome != "not selected"} == {UVA}


def test_of_a_selection_only_what_is_selected_is_tried(carrying: Carrying, capfd: Capture) -> None:
    pushed(carrying, 101, {CACHE: (LIMIT, STEP, RESET), UVA: (LIMIT,)})
    assert carrying.run("add", f"101:{CACHE}") == 0
    capfd.readouterr()
    assert carrying.run("bisect", "--json", "--run", READING) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["of"] == 3
    assert [each["part"] for each in told["parts"]] == [name_of(carrying, "101", CACHE, ".step")]


def test_a_hunk_recorded_as_landed_may_be_left_out(carrying: Carrying, capfd: Capture) -> None:
    pushed(carrying, 101, {CACHE: (LIMIT, ROWS, STEP, RESET)})
    assert carrying.run("add", "101") == 0
    landed = name_of(carrying, "101", CACHE, "Config").removeprefix("101:")
    with carrying.series.open("a") as series:
        series.write(f'landed = ["{landed}"]\n')
    assert carrying.run("build") == 0
    capfd.readouterr()
    assert carrying.run("bisect", "--run", READING) == 0
    printed = capfd.readouterr()
    assert printed.out.startswith(name_of(carrying, "101", CACHE, ".step"))
    assert "untestable" not in printed.err


def test_what_a_fix_settles_is_merged_without_it_or_again(
    carrying: Carrying, capfd: Capture
) -> None:
    """Of two entries that set one limit, a fix keeps both lines; it is of those very contents."""
    pushed(carrying, 101, {CACHE: (LIMIT, RESET)})
    pushed(carrying, 102, {CACHE: (("LIMIT = 64", "LIMIT = 66"), STEP)})
    assert carrying.run("add", "101") == 0
    assert carrying.run("add", "102") == 3
    carrying.settle("102")
    assert carrying.run("build") == 0
    assert {h.outcome for h in carrying.lock.entries[1].hunks} == {"fixed", "merged"}
    before = snapshot(carrying.root)
    capfd.readouterr()
    has = [f"grep -qx 'LIMIT = {limit}' $LANEWRIGHT_TREE/{CACHE}" for limit in (65, 66)]
    assert carrying.run("bisect", "--json", "--run", f"! ({has[0]} && {has[1]})") == 0
    printed = capfd.readouterr()
    assert [each["part"].rpartition(":")[0] for each in json.loads(printed.out)["parts"]] == [
        f"101:{CACHE}",
        f"102:{CACHE}",
    ]
    assert "untestable" not in printed.err
    assert carrying.run("bisect", "--run", READING) == 0
    assert capfd.readouterr().out.startswith(name_of(carrying, "102", CACHE, ".step"))
    assert snapshot(carrying.root) == before


def test_an_entry_in_conflict_is_no_part_of_the_lane(carrying: Carrying, capfd: Capture) -> None:
    carried(carrying, HOST_ROWS, POOL)
    assert carrying.run(*TO, "--keep-going") == 3
    capfd.readouterr()
    path = next(iter(carrying.lock.entries[0].hunks)).path
    assert carrying.run("bisect", "--json", "--run", f"! test -e $LANEWRIGHT_TREE/{path}") == 0
    [part] = json.loads(capfd.readouterr().out)["parts"]
    assert part["part"].startswith(f"{HOST_ROWS}:{path}:")
