"""A lane on the stand-in upstream: carried, rebased with conflicts, resolved, undone, exported."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.upstream.fixtures import Carrying
from tests.upstream.stand_in.force_push import force_push
from tests.upstream.stand_in.specs import PULLS

POOL, STAGING = "96177", "92060"
LEGACY = "vllm/v1/worker/legacy.py"


def test_a_rebase_with_conflicts_is_resolved_and_then_clean(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    for spec in PULLS:
        if str(spec.number) in {POOL, STAGING, "97943", "91474"}:
            assert carrying.run("add", str(spec.number)) == 0
    before = (carrying.series.read_bytes(), carrying.lock)
    assert carrying.run("rebase", "--to", "0.32.0") == 3
    assert (carrying.series.read_bytes(), carrying.lock) == before
    capfd.readouterr()
    assert carrying.run("status") == 0
    assert "rebase: stopped on its way to release:0.32.0" in capfd.readouterr().out
    carrying.settle(POOL)
    carrying.settle(STAGING, LEGACY)
    assert carrying.run("rebase", "--to", "0.32.0") == 0
    assert carrying.lock.pin.ref == "release:0.32.0"
    outcomes = {e.name: sorted({h.outcome for h in e.hunks}) for e in carrying.lock.entries}
    assert outcomes == {
        POOL: ["clean", "fixed", "merged"],
        "97943": ["clean"],
        "91474": ["clean", "merged"],
        STAGING: ["fixed", "merged"],
    }
    built = carrying.read(carrying.lock.tree)
    assert LEGACY not in built
    capfd.readouterr()
    fixed = next(f for f in carrying.lock.entries[0].fixes if f.path.endswith("/layer.py"))
    assert carrying.run("show", "sample", f"{POOL}:{fixed.path}") == 0
    shown = capfd.readouterr().out.partition(f"fix replayed: {fixed.file}\n")[2]
    assert shown == carrying.read(carrying.lock.entries[0].tree)[fixed.path].decode()
    assert carrying.run("rebase", "--check", "--to", "0.32.0") == 0
    assert carrying.run("undo") == 0
    assert (carrying.series.read_bytes(), carrying.lock) == before
    assert carrying.run("build", "--check") == 0
    capfd.readouterr()


def test_a_bundle_rebuilds_the_tree_with_remote_and_store_gone(
    carrying: Carrying, tmp_path: Path
) -> None:
    assert carrying.run("add", POOL) == 0
    tree = carrying.lock.tree
    assert carrying.run("export", "--out", str(tmp_path / "kept")) == 0
    shutil.rmtree(carrying.upstream)
    shutil.rmtree(carrying.places.store)
    assert carrying.run("verify", "--bundle", str(tmp_path / "kept/sample.bundle")) == 0
    assert carrying.run("fetch", "--bundle", str(tmp_path / "kept/sample.bundle")) == 0
    assert carrying.run("build") == 0
    assert carrying.lock.tree == tree


def test_status_says_what_a_force_push_did_to_each_hunk(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    assert carrying.run("add", POOL) == 0
    held = carrying.lock
    now = force_push(carrying.upstream, int(POOL))
    assert carrying.run("fetch") == 0
    assert carrying.run("build") == 0
    assert carrying.lock == held
    capfd.readouterr()
    assert carrying.run("status", "--json") == 0
    [status] = json.loads(capfd.readouterr().out)
    [pull] = status["pulls"]
    assert (pull["head"], pull["newest"]) == (held.entries[0].pull.head, now)  # type: ignore[union-attr]
    found = Counter(hunk["what"] for hunk in pull["hunks"])
    assert (found["changed"], found["gone"], found["new"]) == (1, 1, 1)
    assert found["moved"] >= 1
    assert found["same"] >= 1
    changed = next(hunk for hunk in pull["hunks"] if hunk["what"] == "changed")
    assert changed["now"] != changed["id"]
    assert "--- pinned\n+++ now\n" in changed["difference"]
    assert carrying.run("status") == 0
    assert f"upstream is at {now[:12]}" in capfd.readouterr().out


def test_the_report_reads_as_a_person_would_say_it(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    for spec in PULLS:
        assert carrying.run("add", str(spec.number)) in {0, 3}
    carrying.series.write_text(carrying.series.read_text().replace("0.31.0", "0.32.0"))
    capfd.readouterr()
    assert carrying.run("report", "--json") == 3
    told = json.loads(capfd.readouterr().out)["entries"]
    assert {entry["name"]: entry["verdict"] for entry in told} == {
        POOL: "new package clean; 3 files need hand fixes",
        STAGING: "1 conflicting hunk + 1 hunk for a file that is not there",
        "97943": "clean",
        "91474": "merged",
        "97190": "6 files need hand fixes",
        "91710": "4 files need hand fixes",
    }
