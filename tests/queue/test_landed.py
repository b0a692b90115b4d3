"""What upstream took in of a pull request, as it was, in part or with edits; and took out again."""

from dataclasses import dataclass

import pytest

from lanewright.queue.lock import HunkState
from lanewright.queue.series import load_series
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

FILE = "vllm/config/offload.py"
NEW = "vllm/config/extra.py"
CONTENT = b'"""What came with it."""\n\nEXTRA = 1\n'
FIRST = (b"LIMIT = 64\n", b"LIMIT = 64\nROWS_OF_POOL = 7\n")
METHOD = (
    b'    def reset(self) -> None:\n        """Begin again."""\n',
    b'''\
    def coldest(self, wanted: int) -> list[str]:
        """What was seen least often."""
        ranked = sorted(self.seen, key=self.seen.__getitem__)
        return ranked[:wanted]

    def reset(self) -> None:
        """Begin again."""
''',
)
RENAMED = (METHOD[0], METHOD[1].replace(b"ranked", b"by_count"))
UNLIKE = (METHOD[0], b"    burst = 2\n\n" + METHOD[0])

Edit = tuple[bytes, bytes]


@dataclass(frozen=True)
class Ledger:
    """A lane that carries upstream's #7, which changes two places of a file and adds another."""

    lane: Carrying
    capfd: pytest.CaptureFixture[str]

    def upstream(self, *edits: Edit, new: bytes | None = None) -> None:
        """Give upstream's main a commit in which the files are the old ones with these edits."""
        commit = self.lane.push(1000, "main", self.files(*edits, new=new))
        git(self.lane.upstream, "update-ref", "refs/heads/main", commit)

    def files(self, *edits: Edit, new: bytes | None = None) -> dict[str, bytes | None]:
        text = git(self.lane.upstream, "show", f"{self.lane.main[0]}:{FILE}")
        for old, now in edits:
            assert text.count(old) == 1
            text = text.replace(old, now)
        there = git(self.lane.upstream, "ls-tree", "main", "--", NEW)
        return {FILE: text, **({NEW: new} if new is not None or there else {})}

    def rebase(self, code: int = 0) -> str:
        """Rebase onto upstream's main; all that it says."""
        self.capfd.readouterr()
        assert self.lane.run("rebase", "--to", "main") == code
        said = self.capfd.readouterr()
        return said.out + said.err

    @property
    def hunks(self) -> list[HunkState]:
        return self.lane.lock.entries[0].hunks

    def outcomes(self) -> list[str]:
        """Of the new file, of the first place and of the second."""
        return [hunk.outcome for hunk in self.hunks]

    def content(self) -> bytes:
        return self.lane.read(self.lane.lock.tree)[FILE]

    def wanted(self, *edits: Edit) -> bytes:
        return self.files(*edits)[FILE] or b""

    def record(self, number: int) -> None:
        hunk = self.hunks[number]
        part = f"7:{hunk.path}:{hunk.id}"
        assert self.lane.run("drop", part, "--landed") == 0, self.capfd.readouterr().err


@pytest.fixture
def ledger(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> Ledger:
    found = Ledger(carrying, capfd)
    carrying.push(7, carrying.main[0], found.files(FIRST, METHOD, new=CONTENT))
    assert carrying.run("add", "7") == 0
    assert found.outcomes() == ["clean"] * 3
    return found


def test_what_landed_as_it_was_is_told_hunk_by_hunk(ledger: Ledger) -> None:
    ledger.upstream(METHOD)
    told = ledger.rebase()
    assert ledger.outcomes() == ["clean", "merged", "landed"]
    assert ledger.content() == ledger.wanted(FIRST, METHOD)
    assert f"{FILE}:{ledger.hunks[2].id} clean -> landed" in told
    assert "all of it has landed" not in told


def test_what_landed_as_a_whole_says_what_to_type(ledger: Ledger) -> None:
    ledger.upstream(FIRST, METHOD, new=CONTENT)
    told = ledger.rebase()
    assert ledger.outcomes() == ["landed"] * 3
    assert ledger.lane.lock.tree == ledger.lane.lock.pin.tree
    assert "all of it has landed: lanewright drop 7" in told
    assert told.count("clean -> landed") == len(ledger.hunks)
    assert ledger.lane.run("drop", "7") == 0
    assert ledger.lane.lock.tree == ledger.lane.lock.pin.tree


def test_three_commits_that_landed_as_one(carrying: Carrying, ledger: Ledger) -> None:
    first = carrying.push(8, carrying.main[0], ledger.files(FIRST))
    second = carrying.push(8, first, ledger.files(FIRST, UNLIKE, new=CONTENT))
    carrying.push(8, second, ledger.files(FIRST, METHOD, new=CONTENT))
    assert carrying.run("drop", "7") == 0
    assert carrying.run("add", "8") == 0
    ledger.upstream(FIRST, METHOD, new=CONTENT)
    ledger.rebase()
    assert ledger.outcomes() == ["landed"] * 3


def test_what_landed_with_edits_waits_until_it_is_recorded(ledger: Ledger) -> None:
    before = (ledger.lane.series.read_bytes(), ledger.lane.lock)
    ledger.upstream(RENAMED)
    told = ledger.rebase(3)
    assert "landed changed" in told
    assert (ledger.lane.series.read_bytes(), ledger.lane.lock) == before
    ledger.record(2)
    assert ledger.outcomes() == ["clean"] * 3  # on the old pin it has not landed
    assert ledger.content() == ledger.wanted(FIRST, METHOD)
    told = ledger.rebase()
    assert ledger.outcomes() == ["clean", "merged", "landed changed"]
    assert ledger.content() == ledger.wanted(FIRST, RENAMED)
    assert f"{FILE}:{ledger.hunks[2].id} clean -> landed changed" in told
    assert "recorded as landed with edits" in told
    difference = ledger.hunks[2].difference
    assert "-        ranked = sorted" in difference
    assert "+        by_count = sorted" in difference
    assert not ledger.hunks[2].open


def test_without_a_record_it_is_left_out_only_when_asked(ledger: Ledger) -> None:
    ledger.upstream(RENAMED)
    assert ledger.lane.run("rebase", "--to", "main", "--keep-going") == 3
    assert [hunk.open for hunk in ledger.hunks] == [False, False, True]
    assert ledger.lane.lock.tree == ledger.lane.lock.pin.tree
    ledger.record(2)
    assert ledger.outcomes() == ["clean", "merged", "landed changed"]
    assert ledger.content() == ledger.wanted(FIRST, RENAMED)


def test_a_hunk_that_upstream_took_out_again_is_carried_again(ledger: Ledger) -> None:
    ledger.upstream(METHOD)
    ledger.rebase()
    ledger.upstream()
    told = ledger.rebase()
    assert ledger.outcomes() == ["clean"] * 3
    assert ledger.content() == ledger.wanted(FIRST, METHOD)
    hunk = ledger.hunks[2]
    assert f"{FILE}:{hunk.id} was reverted upstream, and is carried again" in told


def test_a_recorded_hunk_that_upstream_took_out_again_is_carried_again(ledger: Ledger) -> None:
    ledger.upstream(RENAMED)
    ledger.rebase(3)
    ledger.record(2)
    ledger.rebase()
    assert ledger.content() == ledger.wanted(FIRST, RENAMED)
    ledger.upstream()
    told = ledger.rebase()
    assert ledger.content() == ledger.wanted(FIRST, METHOD)
    hunk = ledger.hunks[2]
    assert f"{FILE}:{hunk.id} was reverted upstream, and is carried again" in told
    assert "recorded as landed, but upstream no longer has it" in told


def test_a_recorded_hunk_in_whose_place_is_another_change_waits_again(ledger: Ledger) -> None:
    ledger.upstream(RENAMED)
    ledger.rebase(3)
    ledger.record(2)
    ledger.upstream(UNLIKE)
    told = ledger.rebase(3)
    assert "conflict; recorded as landed, but upstream has another change there" in told


def test_another_change_of_the_same_lines_is_a_conflict(ledger: Ledger) -> None:
    ledger.upstream(UNLIKE)
    told = ledger.rebase(3)
    assert "clean -> conflict" in told
    assert "landed changed" not in told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"        return ranked[:wanted]", b"            return ranked[:wanted]"),
        (b"ranked[:wanted]\n", b"ranked[:wanted]  \n"),
        (b"ranked = sorted(self.seen, ", b"ranked = sorted(self.seen,  "),
    ],
)
def test_where_only_blanks_differ_it_has_not_landed(ledger: Ledger, old: bytes, new: bytes) -> None:
    assert METHOD[1].count(old) == 1
    ledger.upstream((METHOD[0], METHOD[1].replace(old, new)))
    told = ledger.rebase(3)
    assert "clean -> conflict" in told
    assert "landed" not in told


def test_a_new_file_that_landed_with_edits(ledger: Ledger) -> None:
    ledger.upstream(new=CONTENT.replace(b"EXTRA = 1", b"EXTRA = 2"))
    assert "landed changed" in ledger.rebase(3)
    ledger.record(0)
    ledger.rebase()
    assert ledger.outcomes() == ["landed changed", "clean", "clean"]
    assert ledger.lane.read(ledger.lane.lock.tree)[NEW].endswith(b"EXTRA = 2\n")


def test_only_one_hunk_is_recorded_at_a_time_and_once(ledger: Ledger) -> None:
    assert ledger.lane.run("drop", f"7:{FILE}", "--landed") == 1
    assert ledger.lane.run("drop", "7", "--landed") == 1
    ledger.upstream(RENAMED)
    ledger.rebase(3)
    ledger.record(2)
    hunk = ledger.hunks[2]
    for name in (hunk.id, hunk.id[:5]):
        assert ledger.lane.run("drop", f"7:{FILE}:{name}", "--landed") == 1
    assert "recorded as landed already" in ledger.capfd.readouterr().err
    assert ledger.lane.run("drop", f"7:{FILE}:{hunk.id}") == 0
    (entry,) = load_series(ledger.lane.project, "sample").entry
    assert entry.landed is None
