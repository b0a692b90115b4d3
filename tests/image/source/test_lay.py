"""What ends a build from source: anything that is not as it was locked."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.image.source.conftest import PULL, Compiled, lay
from tests.upstream.diff import git
from tests.upstream.lanes import grow


def test_a_pull_request_that_was_made_of_another_source_is_named(
    compiled: Compiled, tmp_path: Path
) -> None:
    lane = compiled.lane
    other = grow(lane, "other", compiled.pin, {"csrc/more.c": "long more(void) { return 2; }\n"})
    lane.push(8, other, {"csrc/more.c": b"long more(void) { return 3; }\n", "vllm/eight.py": b""})
    git(lane.upstream, "update-ref", "refs/heads/main", other)
    assert lane.run("add", "8") == 0
    told = compiled.written(tmp_path / "out")
    assert [pull["name"] for pull in told["pulls"]] == ["#7", "#8"]
    done = lay(tmp_path / "out", tmp_path / "source", lane.upstream)
    assert done.returncode == 1
    assert "#8 cannot be applied: csrc/more.c is " in done.stderr


@pytest.mark.parametrize("file", ["lane.patch", "pulls/01-7.patch"])
def test_a_change_that_was_edited_ends_the_build(
    compiled: Compiled, tmp_path: Path, file: str
) -> None:
    compiled.written(tmp_path / "out")
    patch = tmp_path / "out" / file
    before = patch.read_bytes()
    patch.write_bytes(before.replace(b"+long more", b"+int  more").replace(b"+SEVEN", b"+EIGHT"))
    assert patch.read_bytes() != before
    done = lay(tmp_path / "out", tmp_path / "source", compiled.lane.upstream)
    assert done.returncode == 1
    assert "came out otherwise" in done.stderr


def test_another_commit_than_the_locked_one_ends_the_build(
    compiled: Compiled, tmp_path: Path
) -> None:
    compiled.written(tmp_path / "out")
    other = grow(compiled.lane, "other", compiled.pin, {"vllm/other.py": ""})
    file = tmp_path / "out/lane.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({**told, "ref": other}))
    done = lay(tmp_path / "out", tmp_path / "source", compiled.lane.upstream)
    assert done.returncode == 1
    assert f"the source is commit {other}, not {compiled.pin}" in done.stderr


def test_a_release_is_its_tag_whose_modules_are_the_releases(
    compiled: Compiled, tmp_path: Path
) -> None:
    lane = compiled.lane
    text = lane.series.read_text().replace(f'"git:{compiled.pin}"', '"release:0.31.0"')
    text = text.replace('release = "0.31.0"\n', "").partition("\n[[entry]]\npull")[0]
    lane.series.write_text(text)
    assert lane.run("build") == 0
    told = compiled.written(tmp_path / "out")
    assert told["ref"] == "refs/tags/v0.31.0"
    assert told["commit"] == ""
    assert told["modules"]
    done = lay(tmp_path / "out", tmp_path / "source", lane.upstream)
    assert done.returncode == 0, done.stderr
    module = next(iter(told["modules"]))
    moved = grow(lane, "moved", lane.main[0], {module: "other = True\n"})
    git(lane.upstream, "tag", "--force", "v0.31.0", moved)
    done = lay(tmp_path / "out", tmp_path / "again", lane.upstream)
    assert done.returncode == 1
    assert f"refs/tags/v0.31.0 is not what the release was made of: {module}" in done.stderr


def test_packages_go_beside_a_vllm_that_is_the_lanes(compiled: Compiled, tmp_path: Path) -> None:
    compiled.written(tmp_path / "out")
    site = tmp_path / "site"
    (site / "vllm").mkdir(parents=True)
    (site / "vllm/__init__.py").write_text("")
    (site / "vllm/plain.py").write_bytes(PULL["vllm/plain.py"] or b"")
    for broken in (False, True):
        if broken:
            shutil.rmtree(site / "beside")
            (site / "vllm/plain.py").write_text("SEVEN = False\n")
        done = subprocess.run(
            [sys.executable, tmp_path / "out/lay.py", "beside", tmp_path / "out"],
            env={**os.environ, "PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == broken
        assert (site / "beside/__init__.py").exists() == (not broken)
    assert f"{site / 'vllm/plain.py'} is not the lane's, once it is installed" in done.stderr
