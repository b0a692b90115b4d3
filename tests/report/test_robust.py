"""What a report does with a store or an upstream that is not whole, and what it leaves alone."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lanewright.store.objects import CommitId, tree_of
from tests.report.conftest import Told
from tests.report.reading import entry_of, hunk_at, turns_of
from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH, OTHER = "vllm/engine.py", "vllm/other.py"
TEXT = b"".join(b"def f_%d():\n    return %d\n\n\n" % (n, n) for n in range(6))


def edited(number: int, value: int) -> bytes:
    return TEXT.replace(b"return %d\n" % number, b"return %d\n" % value)


@pytest.fixture
def way(carrying: Carrying) -> tuple[Clash, list[CommitId]]:
    """Two commits of upstream's, the second of which is to blame."""
    made = clash(carrying, {PATH: TEXT}, {PATH: TEXT + b"# end\n"}, {PATH: edited(2, 22)}, code=0)
    first = made.upstream({PATH: edited(5, 55)})
    second = made.upstream({PATH: edited(2, 3)}, onto=first)
    made.stand_on(second)
    assert carrying.run("fetch") == 0
    return made, [first, second]


def files_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_store_with_a_gap_in_its_history_still_reports(
    way: tuple[Clash, list[CommitId]], told: Told
) -> None:
    made, [first, _] = way
    world = made.world
    assert world.run("report") == 3
    gone = tree_of(world.repository, first)
    git = ["git", f"--git-dir={world.places.objects}"]
    for pack in (world.places.objects / "objects/pack").glob("*.pack"):
        aside = world.places.store / pack.name
        shutil.move(pack, aside)
        pack.with_suffix(".idx").unlink()
        subprocess.run([*git, "unpack-objects", "-q"], check=True, input=aside.read_bytes())
        aside.unlink()
    (world.places.objects / "objects" / gone[:2] / gone[2:]).unlink()
    report = told(world)
    assert "commit" not in hunk_at(report, PATH)["cause"]
    assert entry_of(report, "5")["notes"]


def test_without_a_remote_what_the_store_lacks_is_not_told(carrying: Carrying, told: Told) -> None:
    made = clash(carrying, {PATH: TEXT}, {PATH: TEXT + b"# end\n"}, {PATH: edited(2, 22)}, code=0)
    first = made.upstream({PATH: edited(5, 55)})
    made.stand_on(made.upstream({PATH: edited(2, 3)}, onto=first))
    assert carrying.run("fetch") == 0
    settings = carrying.root / "upstream.toml"
    settings.write_text(settings.read_text().partition("[git]")[0])
    report = told(carrying)
    assert "commit" not in hunk_at(report, PATH)["cause"]
    assert turns_of(report) == []


def test_upstream_gone_and_a_watched_one_not_whole(
    way: tuple[Clash, list[CommitId]], told: Told
) -> None:
    made, [_, second] = way
    world = made.world
    assert world.run("report") == 3
    made.pull(6, {PATH: edited(4, 44)})
    series = world.series
    series.write_text(series.read_text().replace("\n[model]", "watch = [6]\n\n[model]"))
    assert world.run("fetch") == 0
    shutil.move(world.upstream, world.upstream.with_name("away"))
    report = told(world)
    assert hunk_at(report, PATH)["cause"]["commit"]["id"] == second
    assert entry_of(report, "6")["standing"] == "watched"


def test_a_pin_on_an_unrelated_history(carrying: Carrying, told: Told) -> None:
    from lanewright.store.git import Repository  # noqa: PLC0415
    from lanewright.store.write import commit, set_ref  # noqa: PLC0415

    made = clash(carrying, {PATH: TEXT}, {PATH: edited(2, 3)}, {PATH: edited(2, 22)})
    upstream = Repository(carrying.upstream)
    pin = CommitId(re.findall(r"git:(\w{40})", carrying.series.read_text())[0])
    alone = commit(upstream, tree_of(upstream, pin), "Unrelated\n", [])
    set_ref(upstream, "refs/heads/other", alone)
    made.stand_on(alone)
    report = told(carrying)
    assert "commit" not in hunk_at(report, PATH)["cause"]
    assert "unrelated" in entry_of(report, "5")["notes"][0]


def test_a_report_changes_nothing_of_the_project_and_says_the_same_twice(
    way: tuple[Clash, list[CommitId]], told: Told
) -> None:
    world = way[0].world
    before = files_of(world.root)
    first = told(world)
    assert told(world) == first
    assert files_of(world.root) == before


def command(world: Carrying) -> list[str]:
    return [sys.executable, "-m", "lanewright", "-C", str(world.root), "report", "--json"]


def test_two_at_once_and_one_that_is_killed(way: tuple[Clash, list[CommitId]], told: Told) -> None:
    world = way[0].world
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for delay in (0.3, 0.6, 0.9):
        with subprocess.Popen(
            command(world),
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as killed:
            time.sleep(delay)
            killed.send_signal(signal.SIGKILL)
    both = [
        subprocess.Popen(
            command(world), env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for _ in range(2)
    ]
    outs = [each.communicate()[0] for each in both]
    assert [each.returncode for each in both] == [3, 3]
    assert outs[0] == outs[1]
    assert entry_of(told(world), "5")["open"]


def test_a_closed_pipe_is_no_failure(way: tuple[Clash, list[CommitId]]) -> None:
    world = way[0].world
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command(world), env=environment, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert done.returncode == 3
    assert b"Traceback" not in done.stderr
