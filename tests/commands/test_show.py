"""``show``: from all entries down to one hunk."""

import json
import re
import shutil

import pytest

from tests.conftest import AddRelease, World
from tests.upstream.diff import own_patch
from tests.upstream.tree import BASE

Capture = pytest.CaptureFixture[str]


def test_show_all_then_one_entry_then_one_hunk(built: World, capfd: Capture) -> None:
    assert built.run("show") == 0
    out = capfd.readouterr().out
    names = re.findall(r"^  (vllm/\S+):([0-9a-f]{10})", out, re.MULTILINE)
    assert [path for path, _ in names] == [*["vllm/arguments.py"] * 2, "vllm/config.py"]
    assert "+    counter" not in out
    folded = "  sample_package/__init__.py, sample_package-1.dist-info/METADATA\n"
    assert out.endswith(f"2 files laid in\n{folded}")
    assert built.run("show", "sample", "hook") == 0
    assert capfd.readouterr().out.count("\n@@ -") == 3
    assert built.run("show", "sample", "hook:vllm/arguments.py") == 0
    assert capfd.readouterr().out.count("\n@@ -") == 2
    path, hunk = names[1]
    for name in (hunk, hunk[:6]):
        assert built.run("show", "sample", f"hook:{path}:{name}") == 0
        out = capfd.readouterr().out
        assert "+            counter=self.counter," in out
        assert out.count("\n@@ -") == 1
    assert built.run("show", "sample", "sample_package") == 0
    assert "  sample_package/__init__.py\n" in capfd.readouterr().out


def test_an_overlays_many_files_are_one_line_of_a_lane(built: World, capfd: Capture) -> None:
    for name in ("a/b.py", "a/c.py", "d.py"):
        file = built.root / "overlay/sample_package" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("")
    folded = "sample_package: 4 files, sample_package-1.dist-info/METADATA"
    assert built.run("report") == 0
    assert f"laid in\n  {folded}\n" in capfd.readouterr().out
    assert built.run("report", "--format", "markdown") == 0
    assert "- sample\\_package: 4 files, sample" in capfd.readouterr().out
    assert built.run("report", "--json") == 0
    laid = json.loads(capfd.readouterr().out)["entries"][1]["laid"]
    assert len(laid) == 5
    assert built.run("build") == 0
    capfd.readouterr()
    assert built.run("show") == 0
    assert capfd.readouterr().out.endswith(f"laid in\n  {folded}\n")
    assert built.run("show", "sample", "sample_package") == 0
    assert capfd.readouterr().out.splitlines()[1:] == [f"  {path}" for path in laid]


def test_an_entry_of_another_lane_is_told_with_the_lanes_that_have_it(
    built: World, capfd: Capture
) -> None:
    text = (built.root / "series/sample.toml").read_text()
    mine = text.replace('"own/hook.patch"', '"own/hook.patch"\nname = "mine"')
    for lane in ("my-lane", "other"):
        (built.root / f"series/{lane}.toml").write_text(mine)
    assert built.run("show", "mine") == 1
    assert capfd.readouterr().err == (
        "lanewright: mine is an entry of my-lane and other\n  next: lanewright show my-lane mine\n"
    )
    assert built.run("show", "mine:vllm/config.py") == 1
    assert "next: lanewright show my-lane mine:vllm/config.py\n" in capfd.readouterr().err
    assert built.run("show", "sample", "mine") == 1
    assert "next: lanewright show my-lane mine\n" in capfd.readouterr().err
    assert built.run("show", "yours") == 1
    assert "unknown lane 'yours'" in capfd.readouterr().err


def test_an_entry_of_the_default_lane_may_be_in_its_series_alone(
    built: World, capfd: Capture
) -> None:
    built.edit("series/sample.toml", '"own/hook.patch"', '"own/hook.patch"\nname = "mine"')
    assert built.run("show", "mine") == 1
    assert "mine is in its series, and not in its lock yet" in capfd.readouterr().err


def test_show_as_json(built: World, capfd: Capture) -> None:
    assert built.run("show", "sample", "hook", "--json") == 0
    [entry] = json.loads(capfd.readouterr().out)
    assert (entry["name"], len(entry["hunks"])) == ("hook", 3)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("absent", "lane sample has no entry 'absent' (it has: hook, sample_package)"),
        ("hook:vllm/absent.py", "hook has no hunk 'vllm/absent.py'"),
        ("hook:vllm/config.py:ffffffffff", "hook has no hunk 'vllm/config.py:ffffffffff'"),
    ],
)
def test_show_of_what_is_not_there(built: World, capfd: Capture, entry: str, told: str) -> None:
    assert built.run("show", "sample", entry) == 1
    captured = capfd.readouterr()
    assert told in captured.err


@pytest.mark.parametrize(
    ("old", "new"),
    [("own/hook.patch", "own/other.patch"), ('[[entry]]\npatch = "own/hook.patch"', "")],
    ids=["renamed", "dropped"],
)
def test_show_of_an_entry_that_left_the_series(
    built: World, capfd: Capture, old: str, new: str
) -> None:
    hook = built.root / "patches/own/hook.patch"
    shutil.copy(hook, hook.with_name("other.patch"))
    built.edit("series/sample.toml", old, new)
    assert built.run("show", "sample", "hook") == 1
    captured = capfd.readouterr()
    assert "changed since the lock was written" in captured.err
    assert "next: lanewright build sample" in captured.err


def test_show_before_the_first_build(world: World, capfd: Capture) -> None:
    assert world.run("show") == 4
    assert "next: lanewright build sample" in capfd.readouterr().err


def test_show_files_with_odd_names_modes_and_bytes(
    world: World, capfd: Capture, release: AddRelease
) -> None:
    names = ["a/x.py", "vllm/a b.py", 'vllm/"q".py', "vllm/ünï.py", "vllm/latin.txt"]
    names = [name if name.startswith("vllm/") else f"vllm/{name}" for name in names]
    before = {**BASE, **dict.fromkeys(names, b"caf\xe9 = 1\r\n# \x0c\n")}
    before = {p: (b"x = 1\r\n# \x0c\n" if p.endswith(".py") else c) for p, c in before.items()}
    after = {**before, **{name: before[name] + b"more = 1\n" for name in names}, "vllm/e.py": b""}
    release("2.0", before)
    patch = own_patch(world.root / "made", before, after, base="release:2.0")
    (world.root / "patches/own/hook.patch").write_bytes(patch)
    world.edit("series/sample.toml", "release:1.1", "release:2.0")
    assert world.run("build") == 0
    capfd.readouterr()
    assert world.run("show", "sample", "hook") == 0
    out = capfd.readouterr().out
    assert out.count("+more = 1") == len(names)
    for name in [*names, "vllm/e.py"]:
        assert f"{name}:" in out
    assert "caf\N{REPLACEMENT CHARACTER} = 1" in out


def test_an_entry_of_the_default_lane_needs_no_lane(built: World, capfd: Capture) -> None:
    assert built.run("show", "hook:vllm/config.py") == 0
    out = capfd.readouterr().out
    assert "+    counter: bool = False" in out
    assert "arguments.py" not in out


def test_one_hunk_as_json(built: World, capfd: Capture) -> None:
    assert built.run("show", "sample", "hook:vllm/config.py", "--json") == 0
    (entry,) = json.loads(capfd.readouterr().out)
    assert [hunk["path"] for hunk in entry["hunks"]] == ["vllm/config.py"]
