"""What is known of pull requests: each fact has its source, and a mistake is told with its key."""

import os
import re
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.use.prfile import PrFile, pr_file
from tests.conftest import World

ROOT = Path(__file__).parents[2]
SOURCE = re.compile(r"https://github\.com/vllm-project/vllm/\S+|seed 000, [a-z0-9 ]+")
PIN = "af7f9488c2210d67e1033ecdc845b087ee7fe92b"
OUTCOMES = {
    56177: "new package clean; 3 files need hand fixes",
    62060: "1 conflicting hunk + 1 hunk for a file that is not there",
    57943: "clean",
    41474: "clean",
    37190: "no, 6 files",
    51710: "no, 4 files",
    56118: None,
    58198: None,
}
POOL = "vllm/model_executor/layers/fused_moe/expert_pool/"
TEXT = """\
number = 7
brings = "A table"
provides = ["RowTable"]

[claims]
"experts.residency" = ["vllm/a.py"]
"rows" = []

[sources]
brings = "upstream's page"
provides = "upstream's page"
claims = "upstream's page"
"""


def known(number: int) -> PrFile:
    found = pr_file(Project.find(ROOT), number)
    assert found
    return found


def given(world: World, text: str) -> Path:
    file = world.root / "patches/7/pr.toml"
    file.parent.mkdir()
    file.write_text(text)
    return file


def test_these_are_the_pull_requests_that_are_carried_or_watched() -> None:
    here = {int(file.parent.name) for file in ROOT.glob("patches/*/pr.toml")}
    assert here == OUTCOMES.keys()


@pytest.mark.parametrize(("number", "outcome"), OUTCOMES.items())
def test_each_fact_of_ours_has_a_source_that_can_be_looked_up(
    number: int, outcome: str | None
) -> None:
    found = known(number)
    assert all(SOURCE.fullmatch(source) for source in found.sources.values())
    tried = [(f"{seen.on}", seen.pin, seen.outcome) for seen in found.seen]
    assert tried == ([("2026-10-23", PIN, outcome)] if outcome else [])


def test_nothing_is_known_of_a_pull_request_without_a_file(world: World) -> None:
    assert pr_file(world.project, 7) is None


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("number = 7", "number = 8", r"number: it is about #8, and its folder is of #7"),
        ('brings = "A table"', "", r"missing required field `brings`"),
        ('brings = "upstream\'s page"\n', "", r"brings: \[sources\] does not say where"),
        ('brings = "upstream\'s page"', 'brings = " "', r"brings: \[sources\] does not say where"),
        ('claims = "upstream\'s page"\n', "", r"claims: \[sources\] does not say where"),
        ("[sources]\n", '[sources]\nauthor = "x"\n', r"sources\.author: the file states no such"),
        ('"RowTable"', '"RowTabel"', r"'RowTabel' - at `\$\.provides\[0\]`"),
        ("number = 7", 'number = 7\nauthro = "x"', r"unknown field `authro`"),
        ("number = 7", 'number = 7\nopened = "lately"', r"at `\$\.opened`"),
        ("number = 7", 'number = 7\nbase = "a97dacb"', r"at `\$\.base`"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_key(
    world: World, old: str, new: str, told: str
) -> None:
    assert old in TEXT
    file = given(world, TEXT.replace(old, new, 1))
    with pytest.raises(LanewrightError, match=told) as error:
        pr_file(world.project, 7)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("select", "claims"),
    [
        ((), ("experts.residency", "rows")),
        (("vllm/b.py",), ("rows",)),
        (("vllm/b.py", "vllm/a.py"), ("experts.residency", "rows")),
        (("vllm/a.py:1a2b3c4d5e",), ("experts.residency", "rows")),
        (("vllm/a.pyi:1a2b3c4d5e", "vllm/a"), ("rows",)),
    ],
)
def test_a_claim_is_made_by_the_files_that_make_it(
    world: World, select: tuple[str, ...], claims: tuple[str, ...]
) -> None:
    given(world, TEXT)
    found = pr_file(world.project, 7)
    assert found
    assert found.claimed(select) == claims


def test_the_pools_table_and_copies_alone_claim_no_residency() -> None:
    pool, cache = known(56177), known(37190)
    assert pool.claimed([f"{POOL}tables.py", f"{POOL}copy.py"]) == ()
    assert pool.claimed(["vllm/v1/worker/gpu_worker.py:1a2b3c4d5e"]) == ("experts.residency",)
    assert pool.claimed(()) == cache.claimed(()) == ("experts.residency",)


@pytest.mark.parametrize("kind", ["folder", "dangling link", "pipe"])
def test_what_is_no_file_is_told(world: World, kind: str) -> None:
    path = world.root / "patches/7/pr.toml"
    path.parent.mkdir()
    match kind:
        case "folder":
            path.mkdir()
        case "dangling link":
            path.symlink_to("nowhere")
        case _:
            os.mkfifo(path)
    with pytest.raises(
        LanewrightError, match=r"pr\.toml is no file, so what #7 claims is not known"
    ):
        pr_file(world.project, 7)
