"""A pull request with a submodule: it is refused, and what is beside it can be carried."""

import shutil
from pathlib import Path

import pytest

from tests.queue.cases.hostile import BASE, FILE, GOOD, Capture, push, refused, with_submodule
from tests.queue.cases.lane import Lane

ALL = {**BASE, GOOD: b"good = 1\n"}


@pytest.fixture
def lane(lane: Lane) -> Lane:
    """A lane that carries nothing yet, and a pull request with a submodule."""
    lane.start(BASE)
    assert lane.run("build") == 0
    push(lane, {"vllm/more.py": b"more = 1\n"})
    with_submodule(lane)
    return lane


def test_all_of_it_is_refused_and_the_rest_can_be_chosen(lane: Lane, capfd: Capture) -> None:
    error = refused(lane, capfd, "add", "1")
    told = "submodule: a lane's tree can have none; nothing allows that"
    assert f"  1: vllm/sub: {told}\n" in error
    assert "next: add other parts, without 1:vllm/sub; lanewright show 1 lists them" in error
    assert lane.run("add", "1:vllm/sub") == 1
    assert f"vllm/sub: {told}" in capfd.readouterr().err
    assert lane.run("add", "1", "--allow", "submodule:vllm/sub") == 1
    assert lane.run("add", f"1:{GOOD}") == 0
    assert "#1 changes the submodule vllm/sub, which no lane can have" in capfd.readouterr().err
    assert lane.read() == ALL
    with lane.series.open("a") as file:
        file.write("# end\n")
    text = lane.series.read_text()
    lane.series.write_text(text.replace(f'"{GOOD}"', f'"{GOOD}", "vllm/sub"'))
    assert lane.run("build") == 1
    assert f"series/sample.toml: entry 1 (1): vllm/sub: {told}" in capfd.readouterr().err
    lane.series.write_text("\n".join(line for line in text.split("\n") if "select" not in line))
    assert "name in the `select` of series/sample.toml: entry 1" in refused(lane, capfd, "build")


def test_the_rest_goes_through_a_bundle(lane: Lane, tmp_path: Path) -> None:
    assert lane.run("add", f"1:{GOOD}") == 0
    assert lane.run("verify") == 0
    assert lane.run("export", "--out", str(tmp_path / "kept")) == 0
    shutil.rmtree(lane.places.store / "objects.git")
    assert lane.run("fetch", "--bundle", str(tmp_path / "kept/sample.bundle")) == 0
    assert lane.run("build") == 0
    assert lane.read() == ALL
    assert lane.run("add", "1:vllm/more.py") == 0


def test_an_update_to_a_head_with_one(lane: Lane, capfd: Capture) -> None:
    push(lane, {}, number=2)
    assert lane.run("add", "2") == 0
    with_submodule(lane, 2)
    error = refused(lane, capfd, "add", "2", "--update")
    assert "what is wanted of it, then update it" in error
    with lane.series.open("a") as file:
        file.write(f'select = ["{GOOD}"]\n')
    assert lane.run("add", "2", "--update") == 0
    assert lane.read() == ALL


def test_one_in_the_place_of_a_file(lane: Lane, capfd: Capture) -> None:
    lane.pull({FILE: None}, lane.upstream_main(), number=3)
    ref, git = "refs/pull/3/head", lane.upstream.run
    listed = git("ls-tree", f"{ref}:vllm").stdout + f"160000 commit {'1' * 40}\tx.py\n".encode()
    inner = git("mktree", "--missing", stdin=listed).stdout.decode().strip()
    outer = git("mktree", stdin=f"040000 tree {inner}\tvllm\n".encode()).stdout.decode().strip()
    made = git("commit-tree", outer, "-p", ref, stdin=b"m").stdout.decode().strip()
    git("update-ref", ref, made)
    capfd.readouterr()
    assert lane.run("add", "3") == 1
    assert f"{FILE} is a submodule, and a lane's tree can have none" in capfd.readouterr().err
