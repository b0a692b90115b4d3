"""Pull requests that a series names before they are pinned."""

import json

import pytest

from lanewright.queue.series import load_series
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]
POOL, ROWS, BATCH = "96177", "97943", "91474"
TABLES = "vllm/model_executor/layers/fused_moe/expert_pool/tables.py"
HOST = "vllm/model_executor/layers/fused_moe/uva_bank.py"
NAMED = f"""
# The table alone.
[[entry]]
pull = {POOL}
select = ["{TABLES}"]  # nothing else of it

# Whole.
[[entry]]
pull = {ROWS}
"""
TO_PIN = f"lanewright add {POOL} {ROWS}"


@pytest.fixture
def unpinned(carrying: Carrying) -> Carrying:
    """A lane that names two pull requests, and has never been locked."""
    with carrying.series.open("a") as file:
        file.write(NAMED)
    return carrying


def pins(lane: Carrying) -> list[tuple[int | None, bool]]:
    return [(each.pull, each.is_pinned) for each in load_series(lane.project, "sample").entry]


def test_list_and_status_tell_of_them(unpinned: Carrying, capfd: Capture) -> None:
    unpinned.upstream.rename(unpinned.upstream.with_name("gone"))
    assert unpinned.run("list", "sample") == 0
    listed = capfd.readouterr().out
    assert f"  {POOL}  #{POOL} not pinned yet  {TABLES}\n" in listed
    assert unpinned.run("status") == 0
    told = capfd.readouterr().out
    assert f"  lock: #{POOL}, #{ROWS} are not pinned yet\n" in told
    assert f"  next: {TO_PIN}\n" in told
    assert unpinned.run("status", "--json") == 0
    [status] = json.loads(capfd.readouterr().out)
    assert (status["next"], status["store"], status["pulls"]) == (TO_PIN, False, [])


@pytest.mark.parametrize(
    "command",
    ["build", "build --check", "report", "verify", "fetch", "image", "boot", "resolve",
     "export --out ../out", "bisect --run true", "rebase --lane sample --to 0.32.0"],
)  # fmt: skip
def test_what_needs_their_objects_says_what_to_type(
    unpinned: Carrying, capfd: Capture, command: str
) -> None:
    before = unpinned.series.read_bytes()
    out = str(unpinned.root.parent / "out")
    assert unpinned.run(*command.replace("../out", out).split()) == 1
    error = capfd.readouterr().err
    assert f"series/sample.toml: #{POOL}, #{ROWS} are not pinned yet" in error
    assert f"  next: {TO_PIN}\n" in error
    assert unpinned.series.read_bytes() == before


def test_add_pins_them_in_place(unpinned: Carrying, capfd: Capture) -> None:
    before = unpinned.series.read_text()
    assert unpinned.run(*TO_PIN.split()[1:]) == 0
    assert f"#{POOL}: pinned at " in capfd.readouterr().err
    text = unpinned.series.read_text()
    new = [line for line in text.splitlines() if line not in before.splitlines()]
    assert [line.partition(" ")[0] for line in new] == ["head", "base"] * 2
    assert [line for line in text.splitlines() if line not in new] == before.splitlines()
    assert [entry.name for entry in unpinned.lock.entries] == [POOL, ROWS]
    taken = [h.path for h in unpinned.lock.entries[0].hunks if h.outcome != "not selected"]
    assert taken == [TABLES]
    assert unpinned.run("build", "--check") == 0


def test_one_by_one_the_series_alone_is_written_until_the_last(
    unpinned: Carrying, capfd: Capture
) -> None:
    assert unpinned.run("add", ROWS) == 0
    error = capfd.readouterr().err
    assert f"lane sample: #{POOL} is not pinned yet, so only its series was written" in error
    assert f"  next: lanewright add {POOL}\n" in error
    assert pins(unpinned) == [(int(POOL), False), (int(ROWS), True)]
    assert not unpinned.project.lock_file("sample").exists()
    assert unpinned.run("undo") == 0
    assert pins(unpinned) == [(int(POOL), False), (int(ROWS), False)]
    for number in (ROWS, POOL):
        assert unpinned.run("add", number) == 0
    assert len(unpinned.lock.entries) == 2


def test_one_that_cannot_be_had_can_be_dropped_while_others_wait(unpinned: Carrying) -> None:
    assert unpinned.run("drop", POOL) == 0
    assert pins(unpinned) == [(int(ROWS), False)]
    assert unpinned.run("drop", ROWS) == 0
    assert unpinned.lock.entries == []


def test_another_may_be_added_beside_them(unpinned: Carrying) -> None:
    assert unpinned.run("add", BATCH) == 0
    assert pins(unpinned) == [(int(POOL), False), (int(ROWS), False), (int(BATCH), True)]


def test_a_part_more_is_taken_as_it_is_pinned(unpinned: Carrying) -> None:
    pool = TABLES.replace("tables", "pool")
    assert unpinned.run("add", f"{POOL}:{pool}", ROWS) == 0
    select = load_series(unpinned.project, "sample").entry[0].select
    assert sorted(select or ()) == [pool, TABLES]


def test_an_update_pins_it_too(unpinned: Carrying) -> None:
    assert unpinned.run("drop", ROWS) == 0
    assert unpinned.run("add", POOL, "--update") == 0
    assert [entry.name for entry in unpinned.lock.entries] == [POOL]


def test_show_tells_what_it_would_bring(unpinned: Carrying, capfd: Capture) -> None:
    assert unpinned.run("show", ROWS) == 0
    shown = capfd.readouterr()
    assert f"  {HOST}:" in shown.out
    assert f"next: lanewright add {ROWS}" in shown.err


def test_a_rebase_of_every_lane_passes_over_one_that_was_never_locked(
    unpinned: Carrying, capfd: Capture
) -> None:
    plain = unpinned.series.read_text().replace(NAMED, "")
    (unpinned.root / "series/other.toml").write_text(plain)
    assert unpinned.run("rebase", "--to", "0.32.0") == 0
    error = capfd.readouterr().err
    assert f"lane sample: stays; it was never locked, and #{POOL}, #{ROWS} are not" in error
    assert f"  next: {TO_PIN}\n" in error
    assert 'pin = "release:0.32.0"' in (unpinned.root / "series/other.toml").read_text()
    assert 'pin = "release:0.31.0"' in unpinned.series.read_text()
    assert unpinned.run("rebase", "--check", "--to", "0.32.0") == 0


def test_one_that_was_locked_before_is_not_passed_over(carrying: Carrying, capfd: Capture) -> None:
    assert carrying.run("build") == 0
    with carrying.series.open("a") as file:
        file.write(NAMED)
    assert carrying.run("rebase", "--to", "0.32.0") == 1
    assert f"  next: {TO_PIN}\n" in capfd.readouterr().err
    assert carrying.run("status") == 0
    assert f"lock: #{POOL}, #{ROWS} are not pinned yet" in capfd.readouterr().out


def test_half_a_pin_is_none(unpinned: Carrying, capfd: Capture) -> None:
    text = unpinned.series.read_text()
    unpinned.series.write_text(text.replace(f"pull = {ROWS}", f'pull = {ROWS}\nhead = "{1:0>40}"'))
    assert unpinned.run("list", "sample") == 1
    assert f"entry 2: pull {ROWS} needs `base`" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [("show", "sample"), ("blame", "sample", "vllm/__init__.py"), ("verify", "sample", "--lock")],
)
def test_without_a_lock_the_next_command_is_the_one_that_pins(
    carrying: Carrying, capfd: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    with carrying.series.open("a") as series:
        series.write("\n[[entry]]\npull = 5\n")
    assert carrying.run(*words) == 1
    assert "  next: lanewright add 5\n" in capfd.readouterr().err
