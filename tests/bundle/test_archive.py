"""``lanewright bundle`` writes one archive: the same of the same, whole or not at all, nothing private."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lanewright.__main__ import run
from lanewright.places import Places
from tests.bundle.opened import bundled, opened
from tests.commands.stand_in_lane import Lay
from tests.conftest import World
from tests.history.made import FAILED, TREE, at, equality, lay_arm, lay_night, lay_run, record, step

Capture = pytest.CaptureFixture[str]
RUN = "runs/sample/20261101T020000Z-01234567"
PULL = {
    "name": "5",
    "kind": "pull",
    "source": "#5",
    "pull": {"number": 5, "head": "a" * 40, "base": "b" * 40},
    "hunks": [{"id": "1", "path": "a.py", "outcome": "merged"}],
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "given.tar.gz"


def test_a_run_of_a_real_lane(lay: Lay, out: Path, capfd: Capture) -> None:
    world = lay()
    assert world.run("nightly") == 0
    (folder,) = (world.places.state / "runs/sample").iterdir()
    capfd.readouterr()
    assert world.run("bundle", "sample", "--out", str(out)) == 0
    told, err = capfd.readouterr()
    assert told == f"{out}\n"
    files = opened(out)
    run = f"runs/sample/{folder.name}"
    lock = (world.root / "series/sample.lock").read_bytes()
    assert files[f"{run}/lane.lock"] == lock
    assert "locks/sample.lock" not in files
    assert json.loads(files["reports/sample.json"])["lane"] == "sample"
    assert b"## lane sample on release:9.9.9" in files["reports/sample.md"]
    assert {f"{run}/record.json", f"{run}/offline.log", f"{run}/server.log"} < files.keys()
    readme = files["README.md"].decode()
    tree = json.loads(lock)["tree"]
    for line in (
        "| verdict | passed |",
        f"| tree | {tree} |",
        "| equality | equal |",
        f"| lock | sha256:{hashlib.sha256(lock).hexdigest()}, {run}/lane.lock |",
        "| report | reports/sample.json |",
        "| autotune file | none: no engine had one |",
        "| eager | equal | self | control | 44/44 |  |",
    ):
        assert line in readme.splitlines()
    # Each of these is below the folder of the test, as are home and project.
    everything = b"".join(files.values())
    assert str(world.root.parent).encode() not in everything
    assert b"STATE/runs/sample/" in files[f"{run}/record.json"]
    assert "replaced: " in err
    assert world.root.parent.name not in err.replace(str(out), "")
    # One of an earlier lanewright kept none; nor is another one the run's.
    digest = hashlib.sha256(lock).hexdigest()
    (folder / "lane.lock").write_bytes(b"{}")
    out.unlink()
    assert world.run("bundle", "sample", "--out", str(out)) == 0
    files = opened(out)
    assert files["locks/sample.lock"] == lock
    assert f"| lock | sha256:{digest}, locks/sample.lock |" in files["README.md"].decode()


def test_the_same_gives_the_same_bytes(places: Places, out: Path) -> None:
    folder = lay_run(places, at(1))
    lay_arm(folder, "pin.eager.baseline", 4.0)
    bundled(places, "sample", out)
    first = out.read_bytes()
    for file in folder.rglob("*"):
        os.utime(file, (1, 1))
    again = folder.with_name("again")
    shutil.copytree(folder, again)
    shutil.rmtree(folder)
    again.rename(folder)
    bundled(places, "sample", out)
    assert out.read_bytes() == first


def test_what_it_tells_of_a_run(places: Places, out: Path) -> None:
    environment = {
        "base": "cp311",
        "machine": "x86_64",
        "python": "3.11.7",
        "torch": "2.13.0+cpu",
        "vllm": "1.1",
    }
    entries = [*record(at(1))["entries"], PULL]
    folder = lay_run(places, at(1), entries=entries, environment=environment)
    lay_arm(folder, "pin.eager.baseline", 4.0)
    lay_arm(folder, "lane.eager.on", 5.0)
    readme = bundled(places, "sample", out)["README.md"].decode().splitlines()
    for line in (
        f"| pin | release:1.1 (commit {TREE}) |",
        f"| layer | sha256:{'1' * 64} |",
        "| versions | vLLM 1.1, torch 2.13.0+cpu, Python 3.11.7 |",
        r"| machine | x86\_64, environment cp311 |",
        f"| lock | sha256:{'0' * 64}; it is not here: there is no project |",
        "| report | none: no night that is here made this run, or it came to none |",
        "| hook | patch own/hook.patch |  |  | 2 merged, 1 clean |",
        f"| 5 | pull \\#\u200b5 | \\#\u200b5 | {'a' * 40} | 1 merged |",
        "| bank | overlay overlay/bank |  |  | 1 file laid in |",
        "- eager.on, x on: 6 = 2 x 3",
        "| eager.on | 128 | 5.0 | 25.6 | 0.800 |",
        "| eager | equal | exchanged | negative control | 0/44 | index 7 |",
    ):
        assert line in readme


def test_a_failed_run_says_why_without_a_name(
    places: Places, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER", "alice")
    error = {"message": "died in /home/alice/x\n::error::y\n| @all", "exit_code": 1}
    lay_run(places, at(1), **{**FAILED, "error": error})
    files = bundled(places, "sample", out)
    line = "| error, exit code 1 | died in \\~/x ::error::y \\| @\u200ball |"
    assert line in files["README.md"].decode().splitlines()
    assert b"alice" not in b"".join(files.values())


def test_a_run_that_was_interrupted(places: Places, out: Path, capfd: Capture) -> None:
    folder = lay_run(places, at(1))
    (folder / "record.json").unlink()
    (folder / "offline.log").write_text("at arm 3\n")
    readme = bundled(places, "sample", out)["README.md"].decode().splitlines()
    assert "| record | none: the run was interrupted, or is under way |" in readme
    assert "| lock | not known |" in readme
    assert capfd.readouterr().out == f"{out}\n"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff",
        json.dumps({**record(at(1)), "lane": "other"}).encode(),
        json.dumps({**record(at(1)), "entries": 5}).encode(),
    ],
)
def test_a_damaged_record_is_told(places: Places, out: Path, content: bytes) -> None:
    folder = lay_run(places, at(1))
    (folder / "record.json").write_bytes(content)
    readme = bundled(places, "sample", out)["README.md"].decode()
    assert "| record | damaged: " in readme


def test_hostile_files(places: Places, out: Path, capfd: Capture, tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("of somebody")
    folder = lay_run(places, at(1))
    (folder / "evil.log").symlink_to(tmp_path / "passwd")
    (folder / "equality").symlink_to(tmp_path)
    (folder / "a\n::error::b\x1b[2J.log").touch()
    (folder / "\udcff.log").touch()
    (folder / "server.log").write_bytes(
        b"::error::x\n##[error]y\n\x1b[2Jz\xff\xfe\n/data/\x1b[31m/a/b me@example.org\x1b[0m\n"
    )
    files = bundled(places, "sample", out)
    err = capfd.readouterr().err
    assert set(files) == {
        "README.md",
        "MANIFEST.sha256",
        f"{RUN}/record.json",
        f"{RUN}/server.log",
    }
    assert b"of somebody" not in b"".join(files.values())
    for line in (
        f"left out: {RUN}/evil.log: it is a link",
        f"left out: {RUN}/equality: it is a link",
        f"left out: {RUN}/a\\n::error::b\\x1b[2J.log: no run and no night calls a file so",
        f"look: {RUN}/server.log:4: an e-mail address: me@example.org",
    ):
        assert line in err.splitlines()
    assert "\x1b" not in err + files["README.md"].decode()


def test_secrets_are_taken_out_and_told(places: Places, out: Path, capfd: Capture) -> None:
    folder = lay_run(places, at(1))
    token = f"hf_{'a' * 34}"
    (folder / "server.log").write_text(f"one\nHF: {token}\nhttps://me:word@host.example/x\n")
    log = bundled(places, "sample", out)[f"{RUN}/server.log"].decode()
    assert log == "one\nHF: TAKEN-OUT\nhttps://TAKEN-OUT@host.example/x\n"
    err = capfd.readouterr().err.splitlines()
    assert f"look: {RUN}/server.log:2: a secret, which was taken out (2 times)" in err


def test_another_file_is_not_written_over(places: Places, out: Path, capfd: Capture) -> None:
    lay_run(places, at(1))
    out.write_text("mine")
    assert run(["bundle", "sample", "--out", str(out)]) == 1
    assert out.read_text() == "mine"
    assert f"{out} is there already, and is no bundle" in capfd.readouterr().err
    out.unlink()
    (out.parent / "target").write_text("mine")
    out.symlink_to(out.parent / "target")
    assert run(["bundle", "sample", "--out", str(out)]) == 1
    assert (out.parent / "target").read_text() == "mine"
    out.unlink()
    out.mkdir()
    assert run(["bundle", "sample", "--out", str(out)]) == 1
    assert "is a folder" in capfd.readouterr().err


def test_a_bundle_takes_the_place_of_an_earlier_one(places: Places, out: Path) -> None:
    lay_run(places, at(1))
    bundled(places, "sample", out)
    lay_run(places, at(2))
    assert any("20261102" in name for name in bundled(places, "sample", out))
    assert [each.name for each in out.parent.glob(".given*")] == []


def test_where_it_cannot_be_written(places: Places, tmp_path: Path, capfd: Capture) -> None:
    lay_run(places, at(1))
    assert run(["bundle", "sample", "--out", str(tmp_path / "none/a.tar.gz")]) == 1
    assert "No such file or directory" in capfd.readouterr().err


def test_without_a_name_it_is_written_here(places: Places, tmp_path: Path) -> None:
    lay_run(places, at(1))
    command = [sys.executable, "-m", "lanewright", "bundle", "sample"]
    (tmp_path / "here").mkdir()
    done = subprocess.run(
        command, cwd=tmp_path / "here", capture_output=True, text=True, check=True
    )
    name = "lanewright-sample-20261101T020000Z-01234567.tar.gz"
    assert done.stdout == f"{name}\n"
    opened(tmp_path / "here" / name)


def test_as_json(places: Places, out: Path, capfd: Capture) -> None:
    folder = lay_run(places, at(1))
    (folder / "server.log").write_text("/data/models/a /home/bob/x\n")
    (folder / "core").touch()
    bundled(places, "sample", out, "--json")
    told = json.loads(capfd.readouterr().out)
    content = out.read_bytes()
    assert told["file"] == str(out)
    assert (told["bytes"], told["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    log = f"{RUN}/server.log"
    clean = b"/data/models/a ~/x\n"
    assert [each for each in told["files"] if each["name"] == log] == [
        {
            "name": log,
            "bytes": len(clean),
            "sha256": hashlib.sha256(clean).hexdigest(),
            "cut": 0,
            "replaced": {"~": 1},
        }
    ]
    why = "it is none of a run's or a night's files"
    assert told["left_out"] == [{"name": f"{RUN}/core", "why": why}]
    place = {"file": log, "line": 1, "what": "an absolute path", "times": 1}
    assert {**place, "text": "/data/models/a"} in told["look"]


def test_a_run_that_is_not_there(places: Places, out: Path, capfd: Capture) -> None:
    lay_run(places, at(1))
    assert run(["bundle", "nowhere", "--out", str(out)]) == 1
    err = capfd.readouterr().err
    assert "lane nowhere has no run" in err
    assert "  next: lanewright boot nowhere" in err
    assert not out.exists()


def test_a_night_has_its_runs_and_reports(world: World, out: Path, capfd: Capture) -> None:
    places = world.places
    capfd.readouterr()
    assert world.run("report", "--json") == 0
    report = capfd.readouterr().out
    folder = lay_run(places, at(1))
    gone = "20261031T020000Z-01234567"
    steps = [
        step("report", out="01.out", log="01.log"),
        step("boot", out="02.out", log="02.log", run=folder.name),
        step("smoke", run=gone),
        step("bisect", run="../../../etc"),
    ]
    night = lay_night(places, at(1), steps, project=str(world.root.parent / "elsewhere/project"))
    (night / "01.out").write_text(report)
    (night / "01.log").write_text(f"in {world.root.parent}/elsewhere/project/series\n")
    (night / "02.out").write_text("lane sample\n")
    files = bundled(places, night.name, out)
    assert sorted(files) == [
        "MANIFEST.sha256",
        "README.md",
        "night/01.log",
        "night/02.out",
        "night/night.json",
        "reports/sample.json",
        "reports/sample.md",
        f"{RUN}/record.json",
    ]
    assert json.loads(files["reports/sample.json"]) == json.loads(report)
    assert files["night/01.log"] == b"in PROJECT/series\n"
    readme = files["README.md"].decode()
    assert "| sample | **passed** | ✅ passed | ✅ passed | ✅ passed | ✅ passed |" in readme
    assert f"### Lane sample, run {folder.name}" in readme
    left = f"left out: runs/sample/{gone}: its folder is gone"
    assert left in capfd.readouterr().err.splitlines()


def test_a_run_has_the_report_of_its_night(world: World, out: Path, capfd: Capture) -> None:
    capfd.readouterr()
    assert world.run("report", "--json") == 0
    report = capfd.readouterr().out
    folder = lay_run(world.places, at(1))
    steps = [step("report", out="01.out"), step("boot", run=folder.name)]
    (lay_night(world.places, at(1), steps) / "01.out").write_text(report)
    lay_night(world.places, at(2), [step("boot", run="20261102T020000Z-01234567")])
    (lay_night(world.places, at(3), []) / "night.json").write_text("{")
    files = bundled(world.places, folder.name, out)
    assert json.loads(files["reports/sample.json"]) == json.loads(report)


def test_what_was_tuned(places: Places, out: Path, tmp_path: Path) -> None:
    tuned = tmp_path / "store/caches/autotune_configs.json"
    tuned.parent.mkdir(parents=True)
    tuned.write_text("{}")
    os.utime(tuned, (at(1).timestamp(), at(1).timestamp()))
    folder = lay_run(places, at(1))
    log = folder / "server.log"
    log.write_text(f"INFO x.py:1] Using FlashInfer autotune cache file: {tuned}\n")
    digest = hashlib.sha256(b"{}").hexdigest()

    def told() -> str:
        readme = bundled(places, "sample", out)["README.md"].decode()
        (line,) = [line for line in readme.splitlines() if line.startswith("| autotune file |")]
        return line

    named = "STORE/caches/autotune\\_configs.json"
    assert told() == f"| autotune file | sha256:{digest}, of {named} |"
    os.utime(tuned, (at(2).timestamp(), at(2).timestamp()))
    assert told() == f"| autotune file | not known: {named} was written since |"
    tuned.unlink()
    assert told() == f"| autotune file | not known: {named} is not here |"
    os.utime(tmp_path, (1, 1))
    tuned.symlink_to(tmp_path)
    with log.open("ab") as stream:
        stream.write(b"Using FlashInfer autotune cache file: /\xff/autotune_configs.json\n")
    os.utime(tuned, (1, 1), follow_symlinks=False)
    odd = "not known: /?/autotune\\_configs.json is not here"
    assert told() == f"| autotune file | not known: {named} is no regular file; {odd} |"


def test_what_the_record_says_was_tuned(places: Places, out: Path) -> None:
    name = "0.6/103a/autotune_configs.json"

    def engine(**ended: str) -> dict[str, Any]:
        tactics = {"started": {}, "ended": {name: ended["sha"]} if ended else {}}
        return {"tactics": tactics, "graphs": None, "memory": None}

    def told(day: int, engines: dict[str, Any]) -> str:
        lay_run(places, at(day), equality=equality(engines=engines))
        readme = bundled(places, "sample", out)["README.md"].decode()
        (line,) = [line for line in readme.splitlines() if line.startswith("| autotune file |")]
        return line

    one, other = "1" * 64, "2" * 64
    file = name.replace("_", "\\_")
    both = {"eager.off": engine(sha=one), "eager.on": engine(sha=one)}
    assert told(1, both) == f"| autotune file | sha256:{one}, {file}, of every arm |"
    apart = {"eager.off": engine(sha=one), "eager.on": engine(sha=other)}
    assert told(2, apart) == (
        f"| autotune file | sha256:{one}, {file}, of eager.off; sha256:{other}, {file}, of eager.on |"
    )
    assert told(3, {"eager.on": engine()}) == "| autotune file | none: no engine had one |"
