"""A pull request whose head moved between ``add`` and now."""

from collections import Counter

import pytest

from lanewright.queue.edit.edit import with_entry_value
from lanewright.queue.inputs import Choice
from lanewright.queue.merge.choose import choose
from lanewright.queue.merge.units import OnBase
from lanewright.queue.pull.drifted import Drifted, drifted
from lanewright.queue.pull.pulls import known_head, pin_pull, read_pull
from lanewright.queue.series import EntrySpec, load_series
from lanewright.report.outcome import counted
from lanewright.store.objects import CommitId
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying
from tests.upstream.stand_in.force_push import force_push

POOL = 96177
FILE = "vllm/config/offload.py"


def entry_of(lane: Carrying) -> EntrySpec:
    (entry,) = load_series(lane.project, "sample").entry
    return entry


def pinned(lane: Carrying, number: int) -> OnBase:
    entry = entry_of(lane)
    return read_pull(
        lane.project, lane.places, number, CommitId(entry.base or ""), CommitId(entry.head or "")
    )


def newest(lane: Carrying, number: int) -> OnBase:
    found = pin_pull(lane.project, lane.places, number, ())
    return read_pull(lane.project, lane.places, number, found.base, found.head)


def drift_of(lane: Carrying, number: int, *select: str) -> list[Drifted]:
    before = pinned(lane, number)
    chosen = choose(before, Choice(select), "the series")
    return drifted(before, chosen, newest(lane, number))


@pytest.fixture
def pushed(carrying: Carrying) -> Carrying:
    """A lane with all of #96177, whose head is another one upstream by now."""
    assert carrying.run("add", str(POOL)) == 0
    force_push(carrying.upstream, POOL)
    return carrying


def test_each_hunk_is_told_apart(pushed: Carrying) -> None:
    found = drift_of(pushed, POOL)
    what = Counter(each.what for each in found)
    assert (what["moved"], what["changed"], what["gone"], what["new"]) == (1, 1, 1, 1)
    assert what["same"] == len(pinned(pushed, POOL).units) - 3
    (changed,) = [each for each in found if each.what == "changed"]
    (removed, added) = [
        line for line in changed.difference.splitlines() if line[:1] in "+-" and line[:3] != "---"
        and line[:3] != "+++"
    ]  # fmt: skip
    assert removed.endswith(" here")
    assert added.endswith(" whenever it runs")
    assert (changed.now, changed.id) != (changed.id, changed.now)
    assert changed.symbol
    now = {unit.id for unit in newest(pushed, POOL).units}
    for each in found:
        assert ((each.now or each.id) in now) == (each.what != "gone")
    assert not any(each.difference for each in found if each is not changed)


def test_only_chosen_hunks_are_said_to_be_gone_and_all_new_ones_are_told(pushed: Carrying) -> None:
    gone = next(each for each in drift_of(pushed, POOL) if each.what == "gone")
    other = next(unit for unit in pinned(pushed, POOL).units if unit.path != gone.path)
    found = drift_of(pushed, POOL, f"{other.path}:{other.id}")
    assert [each.id for each in found if each.what != "new"] == [other.id]
    assert {each.what for each in found} >= {"new"}
    assert gone.id not in {each.id for each in found}


def test_a_fetch_learns_of_the_new_head_and_build_keeps_the_old(pushed: Carrying) -> None:
    old, lock = entry_of(pushed), pushed.lock
    assert pushed.run("fetch") == 0
    head = known_head(pushed.project, pushed.places, POOL)
    assert head == git(pushed.upstream, "rev-parse", f"refs/pull/{POOL}/head").decode().strip()
    assert entry_of(pushed) == old
    assert old.head != head
    (pushed.root / "series/sample.lock").unlink()
    assert pushed.run("build") == 0
    assert pushed.lock == lock


def test_hunks_that_are_the_same_are_counted_and_the_others_told(
    pushed: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    found = drift_of(pushed, POOL)
    same = [each for each in found if each.what == "same"]
    assert pushed.run("fetch") == 0
    capfd.readouterr()
    assert pushed.run("status", "--json") == 0
    out = capfd.readouterr().out
    assert all(each.id in out for each in same)
    files = counted(len({each.path for each in same}), "file")
    for command in (["status"], ["add", str(POOL), "--update"]):
        assert pushed.run(*command) == 0
        said = "".join(capfd.readouterr())
        assert f"  same     {len(same)} hunks in {files}\n" in said
        for each in found:
            assert (f"{each.what:8} {each.path}:{each.id}" in said) == (each.what != "same")


def test_an_update_takes_everything_and_undo_brings_the_old_head_back(
    pushed: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    before = (pushed.series.read_bytes(), pushed.lock)
    wanted = newest(pushed, POOL)
    capfd.readouterr()
    assert pushed.run("add", str(POOL), "--update") == 0
    told = capfd.readouterr().err
    for word in ("  moved ", "  changed ", "  gone ", "  new ", "whenever it runs"):
        assert word in told
    assert {hunk.id for hunk in pushed.lock.entries[0].hunks} == {u.id for u in wanted.units}
    assert pushed.run("undo") == 0
    assert (pushed.series.read_bytes(), pushed.lock) == before
    assert pushed.run("build", "--check") == 0


def test_a_selection_is_carried_along(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carry_three(carrying)
    first, second, _ = hunks_of(carrying)
    assert carrying.run("drop", f"7:{FILE}:{hunks_of(carrying)[2]}") == 0
    assert entry_of(carrying).select == [f"{FILE}:{first}", f"{FILE}:{second}"]
    carrying.push(7, carrying.main[0], three(carrying, second=b"allowed = min(rows, limit) // 3"))
    capfd.readouterr()
    assert carrying.run("add", "7", "--update") == 0
    select = entry_of(carrying).select or []
    assert select[0] == f"{FILE}:{first}"
    assert select[1] != f"{FILE}:{second}"
    text = carrying.read(carrying.lock.tree)[FILE]
    assert b"LIMIT = 65" in text
    assert b"// 3" in text
    assert b"from nothing" not in text
    assert "-+        allowed" not in capfd.readouterr().err


def test_ids_that_are_cut_short_are_carried_along(carrying: Carrying) -> None:
    carry_three(carrying)
    first, second, third = hunks_of(carrying)
    assert carrying.run("drop", f"7:{FILE}:{third}") == 0
    text = carrying.series.read_text().replace(first, first[:5]).replace(second, second[:5])
    carrying.series.write_text(text)
    carrying.push(7, carrying.main[0], three(carrying, second=b"allowed = min(rows, limit) // 3"))
    assert carrying.run("add", "7", "--update") == 0
    select = entry_of(carrying).select or []
    assert select[0] == f"{FILE}:{first}"
    assert carrying.read(carrying.lock.tree)[FILE].count(b"// 3") == 1


def test_a_chosen_hunk_that_is_gone_stops_the_update(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carry_three(carrying)
    first, second, third = hunks_of(carrying)
    assert carrying.run("drop", f"7:{FILE}:{first}") == 0
    before = (carrying.series.read_bytes(), carrying.lock)
    carrying.push(7, carrying.main[0], three(carrying, second=None))
    capfd.readouterr()
    assert carrying.run("add", "7", "--update") == 3
    told = capfd.readouterr().err
    assert f"{FILE}:{second}" in told
    assert f"next: lanewright drop 7:{FILE}:{second}" in told
    assert (carrying.series.read_bytes(), carrying.lock) == before
    assert carrying.run("drop", f"7:{FILE}:{second}") == 0
    assert carrying.run("add", "7", "--update") == 0
    assert entry_of(carrying).select == [f"{FILE}:{third}"]


def test_a_chosen_file_that_lost_one_of_its_hunks_is_told_and_moves(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carry_three(carrying)
    assert entry_of(carrying).select == [FILE]
    carrying.push(7, carrying.main[0], three(carrying, second=None))
    capfd.readouterr()
    code = carrying.run("add", "7", "--update")
    told = capfd.readouterr().err
    assert code == 3, told
    assert "gone" in told


def record_landed(carrying: Carrying, *hunks: str) -> None:
    """As `drop --landed` does once upstream has them with edits."""
    text = carrying.series.read_text()
    landed = [f"{FILE}:{hunk}" for hunk in hunks]
    carrying.series.write_text(with_entry_value(text, 0, "landed", landed))
    assert carrying.run("build") == 0


@pytest.mark.parametrize("selected", [True, False])
def test_what_has_landed_is_carried_along(carrying: Carrying, *, selected: bool) -> None:
    carry_three(carrying)
    first, second, third = hunks_of(carrying)
    if selected:
        assert carrying.run("drop", f"7:{FILE}:{third}") == 0
    record_landed(carrying, first, second)
    carrying.push(7, carrying.main[0], three(carrying, second=b"allowed = min(rows, limit) // 3"))
    assert carrying.run("add", "7", "--update") == 0
    landed = entry_of(carrying).landed or []
    assert landed[0] == f"{FILE}:{first}"
    assert landed[1] in {f"{FILE}:{each}" for each in hunks_of(carrying)} - {f"{FILE}:{second}"}


def test_what_had_landed_and_is_gone_is_recorded_no_more(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carry_three(carrying)
    first, second, _ = hunks_of(carrying)
    record_landed(carrying, first, second)
    carrying.push(7, carrying.main[0], three(carrying, second=None))
    capfd.readouterr()
    assert carrying.run("add", "7", "--update") == 0
    assert entry_of(carrying).landed == [f"{FILE}:{first}"]
    assert f"  gone     {FILE}:{second}" in capfd.readouterr().err


def test_the_old_head_builds_when_upstream_has_dropped_it(pushed: Carrying) -> None:
    old, lock = entry_of(pushed).head, pushed.lock
    git(pushed.upstream, "reflog", "expire", "--expire=now", "--all")
    git(pushed.upstream, "gc", "--quiet", "--prune=now")
    kept = git(pushed.upstream, "cat-file", "--batch-check", stdin=f"{old}\n".encode())
    assert kept.endswith(b" missing\n")
    (pushed.root / "series/sample.lock").unlink()
    assert pushed.run("build") == 0
    assert pushed.lock == lock
    assert pushed.run("rebase", "--to", "0.32.0") == 3


def test_an_update_where_nothing_moved_says_so(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carry_three(carrying)
    before = carrying.series.read_bytes()
    capfd.readouterr()
    assert carrying.run("add", "7", "--update") == 0
    assert "7 is at its newest head" in capfd.readouterr().err
    assert carrying.series.read_bytes() == before


def test_what_is_not_carried_cannot_be_updated(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    assert carrying.run("add", "7", "--update") == 1
    assert "has no pull request 7" in capfd.readouterr().err


def three(lane: Carrying, *, second: bytes | None) -> dict[str, bytes | None]:
    """Upstream's #7: three hunks in one file, of which the second is as wanted, and a new file."""
    text = git(lane.upstream, "show", f"{lane.main[0]}:{FILE}")
    edits = {
        b"LIMIT = 64": b"LIMIT = 65",
        b"allowed = min(rows, limit)": second or b"allowed = min(rows, limit)",
        b'"""Begin again."""': b'"""Begin again, from nothing."""',
    }
    for old, new in edits.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return {FILE: text, "vllm/config/extra.py": b"added = 1\n"}


def carry_three(lane: Carrying) -> None:
    lane.push(7, lane.main[0], three(lane, second=b"allowed = min(rows, limit) // 2"))
    assert lane.run("add", "7") == 0
    assert lane.run("drop", "7:vllm/config/extra.py") == 0


def hunks_of(lane: Carrying) -> list[str]:
    return [hunk.id for hunk in lane.lock.entries[0].hunks if hunk.path == FILE]
