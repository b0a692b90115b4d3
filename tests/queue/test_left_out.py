"""What is not carried is said wherever the lane's tree is used."""

import pytest

from tests.queue.scenarios import POOL, ROWS, TO, carried
from tests.upstream.fixtures import Carrying

STAGING, LEGACY = "92060", "vllm/v1/worker/legacy.py"


@pytest.mark.parametrize(
    "command", ["build", "build --check", "verify", "export --out ../out"], ids=str.split
)
def test_an_entry_that_waits_is_named_by_every_command_that_uses_the_tree(
    carrying: Carrying, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    carried(carrying, ROWS, POOL)
    assert carrying.run(*TO, "--keep-going") == 3
    capsys.readouterr()
    out = str(carrying.root.parent / "out")
    assert carrying.run(*command.replace("../out", out).split()) == 0
    told = capsys.readouterr().err
    assert f"lane sample is without {POOL}: 3 hunks of it need a person" in told
    assert f"next: lanewright resolve {POOL}" in told
    assert carrying.run("list", "sample") == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line for line in listed if "left out" in line] == [
        line for line in listed if line.startswith(f"  {POOL}")
    ]


def test_a_fix_that_throws_a_hunk_away_says_so(
    carrying: Carrying, capsys: pytest.CaptureFixture[str]
) -> None:
    carried(carrying, STAGING)
    assert carrying.run(*TO) == 3
    carrying.settle(STAGING, LEGACY)
    assert carrying.run(*TO) == 0
    hunks = {hunk.path: hunk for hunk in carrying.lock.entries[0].hunks}
    assert hunks[LEGACY].outcome == "fixed"
    assert hunks[LEGACY].cause.startswith("its hand fix goes without the file, so nothing")
    others = [hunk.cause for path, hunk in hunks.items() if path != LEGACY]
    assert not any("nothing of this" in cause for cause in others)
    capsys.readouterr()
    assert carrying.run("report") == 0
    assert "its hand fix goes without the file" in capsys.readouterr().out


def test_an_entry_that_was_added_in_conflict_can_be_shown(
    carrying: Carrying, capsys: pytest.CaptureFixture[str]
) -> None:
    carried(carrying, ROWS)
    assert carrying.run(*TO) == 0
    assert carrying.run("add", POOL) == 3
    capsys.readouterr()
    assert carrying.run("show", POOL) == 0
    told = capsys.readouterr()
    assert "in the series, and not in the lock yet" in told.out
    assert f"lanewright drop {POOL}" in told.err
    path = told.out.splitlines()[1].split(":")[0].strip()
    assert carrying.run("show", f"{POOL}:{path}") == 0
    assert "@@" in capsys.readouterr().out
