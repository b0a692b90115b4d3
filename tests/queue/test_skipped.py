"""``missing = "skip"``: hunks for files that the pin lacks are left out by the series' word."""

import pytest

from lanewright.queue.lock import is_open
from lanewright.queue.plan import plan
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]
STAGING, LEGACY = "92060", "vllm/v1/worker/legacy.py"
SKIP = 'missing = "skip"\n'


def skips(lane: Carrying, number: str = STAGING) -> None:
    text = lane.series.read_text()
    assert f"pull = {number}\n" in text
    lane.series.write_text(text.replace(f"pull = {number}\n", f"pull = {number}\n{SKIP}"))


def upstream_text(lane: Carrying) -> bytes:
    return git(lane.upstream, "show", f"{lane.main[0]}:{LEGACY}")


def test_only_the_conflict_is_left_for_a_person(carrying: Carrying, capfd: Capture) -> None:
    assert carrying.run("add", STAGING) == 0
    skips(carrying)
    assert carrying.run("rebase", "--to", "0.32.0") == 3
    error = capfd.readouterr().err
    assert LEGACY not in error.partition("in conflict")[2]
    carrying.settle(STAGING)
    assert carrying.run("rebase", "--to", "0.32.0") == 0
    found = {h.path: h for h in carrying.lock.entries[0].hunks}
    assert not is_open(carrying.lock)
    assert found[LEGACY].outcome == "file missing"
    assert found[LEGACY].cause.startswith('left out: the series says missing = "skip"')
    others = {h.outcome for h in carrying.lock.entries[0].hunks if h.path != LEGACY}
    assert others == {"clean", "fixed", "merged"}
    assert LEGACY not in carrying.read(carrying.lock.tree)
    capfd.readouterr()
    assert carrying.run("report") == 0
    assert "1 hunk left out, for a file that is not there" in capfd.readouterr().out
    assert carrying.run("verify", "--lock") == 0


def test_where_the_file_is_there_it_changes_nothing(carrying: Carrying) -> None:
    assert carrying.run("add", STAGING) == 0
    before = carrying.lock
    digest = plan(carrying.project, "sample").digest
    skips(carrying)
    assert plan(carrying.project, "sample").digest != digest
    assert carrying.run("build") == 0
    assert (carrying.lock.tree, carrying.lock.entries) == (before.tree, before.entries)


def test_an_entry_of_which_nothing_is_left_is_refused(carrying: Carrying, capfd: Capture) -> None:
    carrying.push(7, carrying.main[0], {LEGACY: b"legacy = 1\n"})
    assert carrying.run("add", "7") == 0
    skips(carrying, "7")
    before = carrying.series.read_bytes()
    assert carrying.run("rebase", "--to", "0.32.0") == 1
    error = capfd.readouterr().err
    assert (
        f"entry 1 (7): all that is chosen of it is for files that are not there: {LEGACY}" in error
    )
    assert "next: lanewright drop 7\n" in error
    assert carrying.series.read_bytes() == before


def test_what_else_needs_the_missing_file_is_refused(carrying: Carrying, capfd: Capture) -> None:
    uses = b"from vllm.v1.worker.legacy import fresh\n\nfresh()\n"
    legacy = upstream_text(carrying) + b"\n\ndef fresh() -> None: ...\n"
    carrying.push(7, carrying.main[0], {LEGACY: legacy, "vllm/new.py": uses})
    assert carrying.run("add", "7") == 0
    skips(carrying, "7")
    assert carrying.run("rebase", "--to", "0.32.0") == 1
    assert "uses vllm.v1.worker.legacy.fresh, which" in capfd.readouterr().err


@pytest.mark.parametrize("word", ['"drop"', "true"])
def test_another_word_is_refused(carrying: Carrying, capfd: Capture, word: str) -> None:
    assert carrying.run("add", STAGING) == 0
    skips(carrying)
    text = carrying.series.read_text()
    carrying.series.write_text(text.replace('"skip"', word))
    assert carrying.run("list") == 1
    assert "$.entry[0].missing" in capfd.readouterr().err
