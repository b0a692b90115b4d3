"""Files and hunks of a pull request, chosen on the command line."""

import json
from dataclasses import dataclass

import pytest

from lanewright.queue.lock import HunkState
from lanewright.queue.merge.hunkid import hunk_ids
from lanewright.queue.patch.diff import Hunk
from lanewright.queue.series import load_series
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

FILE = "vllm/config/offload.py"
OTHER = "vllm/model_executor/offloader/uva.py"
NEW = "vllm/config/a:beef.py"
EDITS = {
    b"LIMIT = 64": b"LIMIT = 65",
    b"allowed = min(rows, limit)": b"allowed = min(rows, limit) // 2",
    b'"""Begin again."""': b'"""Begin again, from nothing."""',
}
HEAD_OF_SERIES = '# Why this lane is here.\ntitle = "A sample lane"\n'


@dataclass(frozen=True)
class Carried:
    """A lane, and upstream's #7: three hunks in one file, one in another, and a new file."""

    lane: Carrying
    capfd: pytest.CaptureFixture[str]

    def select(self) -> list[str] | None:
        (entry,) = load_series(self.lane.project, "sample").entry
        return entry.select

    @property
    def hunks(self) -> list[HunkState]:
        return self.lane.lock.entries[0].hunks

    def add(self, part: str, *flags: str) -> None:
        assert self.lane.run("add", part, *flags) == 0, self.capfd.readouterr().err

    def drop(self, part: str) -> None:
        assert self.lane.run("drop", part) == 0, self.capfd.readouterr().err

    def refused(self, *arguments: str) -> str:
        """Run a command that must end with code 1 and write nothing; what it says."""
        files = [self.lane.series, self.lane.root / "series/sample.lock"]
        before = [file.read_bytes() if file.exists() else None for file in files]
        self.capfd.readouterr()
        assert self.lane.run(*arguments) == 1
        assert [file.read_bytes() if file.exists() else None for file in files] == before
        return self.capfd.readouterr().err

    def ids(self, path: str = FILE) -> list[str]:
        return [hunk.id for hunk in self.hunks if hunk.path == path]

    def taken(self) -> list[str]:
        """What of the pull request is in the lane's tree, by path, and by number in FILE."""
        was, now = (self.lane.read(tree) for tree in (self.lane.lock.pin.tree, self.lane.lock.tree))
        there = [f"{n}" for n, new in enumerate(EDITS.values()) if new in now[FILE]]
        return there + sorted(p for p in now if p != FILE and now[p] != was.get(p))


@pytest.fixture
def seven(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> Carried:
    texts = {path: at_base(carrying, path) for path in (FILE, OTHER)}
    for old, new in EDITS.items():
        texts[FILE] = replaced(texts[FILE], old, new)
    texts[OTHER] = replaced(texts[OTHER], b"rows: int = 8", b"rows: int = 9")
    carrying.push(7, carrying.main[0], {**texts, NEW: b"added = 1\n", "docs/a.md": b"x\n"})
    return Carried(carrying, capfd)


def at_base(carrying: Carrying, path: str) -> bytes:
    return git(carrying.upstream, "show", f"{carrying.main[0]}:{path}")


def replaced(text: bytes, old: bytes, new: bytes) -> bytes:
    assert text.count(old) == 1, old
    return text.replace(old, new)


def test_a_selection_grows_from_a_file_to_everything(seven: Carried) -> None:
    seven.add(f"7:{OTHER}")
    assert seven.select() == [OTHER]
    assert seven.taken() == [OTHER]
    first, second, third = seven.ids()
    seven.add(f"#7:{FILE}:{second[:5]}")
    assert seven.select() == [f"{FILE}:{second}", OTHER]
    assert seven.taken() == ["1", OTHER]
    seven.add(f"7:{NEW}")
    seven.add(f"7:{FILE}:{first}")
    assert seven.select() == [NEW, f"{FILE}:{first}", f"{FILE}:{second}", OTHER]
    seven.add(f"7:{FILE}:{third}")
    assert seven.select() == [NEW, *(f"{FILE}:{each}" for each in (first, second, third)), OTHER]
    assert seven.taken() == ["0", "1", "2", NEW, OTHER]
    assert seven.lane.series.read_text().startswith(HEAD_OF_SERIES)


def test_a_file_whose_hunks_are_all_chosen_is_named_by_its_path(seven: Carried) -> None:
    seven.add(f"7:{FILE}")
    assert seven.select() == [FILE]
    for each in seven.ids()[1:]:
        seven.drop(f"7:{FILE}:{each}")
    assert seven.select() == [f"{FILE}:{seven.ids()[0]}"]
    assert seven.taken() == ["0"]
    seven.add(f"7:{FILE}")
    assert seven.select() == [FILE]


def test_a_drop_from_everything_selects_the_rest(seven: Carried) -> None:
    seven.add("7")
    assert seven.select() is None
    first, second, third = seven.ids()
    seven.drop(f"7:{FILE}:{second}")
    assert seven.select() == [NEW, f"{FILE}:{first}", f"{FILE}:{third}", OTHER]
    assert seven.taken() == ["0", "2", NEW, OTHER]
    seven.drop(f"7:{NEW}")
    assert seven.taken() == ["0", "2", OTHER]


def test_dropping_the_last_part_takes_the_entry_out(seven: Carried) -> None:
    seven.add(f"7:{OTHER}")
    (hunk,) = seven.ids(OTHER)
    before = seven.lane.series.read_text()
    seven.drop(f"7:{OTHER}:{hunk}")
    assert load_series(seven.lane.project, "sample").entry == []
    assert seven.lane.lock.tree == seven.lane.lock.pin.tree
    assert seven.lane.run("undo") == 0
    assert seven.lane.series.read_text() == before


def test_comments_in_the_series_stay(seven: Carried) -> None:
    seven.add(f"7:{OTHER}")
    text = seven.lane.series.read_text()
    text = text.replace("[[entry]]", "# it matters to us\n[[entry]]  # ours")
    text = text.replace("select = [", "# only what we use\nselect = [")
    seven.lane.series.write_text(text)
    seven.add(f"7:{FILE}:{seven.ids()[0]}")
    seven.drop(f"7:{OTHER}")
    after = seven.lane.series.read_text()
    for comment in ("# it matters to us\n", "# ours\n", "# only what we use\n"):
        assert comment in after
    assert seven.select() == [f"{FILE}:{seven.ids()[0]}"]


def test_a_path_that_ends_like_a_hunks_id(seven: Carried) -> None:
    seven.add(f"7:{NEW}")
    assert seven.taken() == [NEW]
    (hunk,) = seven.ids(NEW)
    seven.drop(f"7:{NEW}:{hunk}")
    seven.add(f"7:{NEW}:{hunk}")
    assert seven.select() == [f"{NEW}:{hunk}"]


@pytest.mark.parametrize("end", ["beef", "0123456789", "x", ""])
def test_a_hunk_that_is_not_there_is_refused_with_those_that_are(seven: Carried, end: str) -> None:
    seven.add(f"7:{OTHER}")
    assert FILE in seven.refused("add", f"7:{FILE}:{end}")


def test_what_matches_nothing_is_refused(seven: Carried) -> None:
    assert "it does not change it" in seven.refused("add", "7:vllm/none.py")
    seven.add(f"7:{OTHER}")
    assert "matches 0 hunks" in seven.refused("add", "7:vllm/none.py")
    assert "matches 0 hunks" in seven.refused("drop", "7:vllm/none.py")
    assert "is not carried" in seven.refused("drop", f"7:{FILE}")
    assert "no entry '8'" in seven.refused("drop", "8")
    for odd in ("7:", ":x", "#"):
        assert "names no part" in seven.refused("add", odd)


def test_an_id_cut_so_short_that_two_hunks_fit_is_refused(seven: Carried) -> None:
    one, other, prefix = _alike_ids("vllm/long.py")
    start = b"".join(b"line_%d = 0\n" % number for number in range(20))
    lane = seven.lane
    base = lane.push(8, lane.main[0], {"vllm/long.py": start})
    seven.add("8")
    text = start.replace(b"line_2 = 0\n", one).replace(b"line_17 = 0\n", other)
    lane.push(9, base, {"vllm/long.py": text})
    told = seven.refused("add", f"9:vllm/long.py:{prefix}")
    assert "matches 2 hunks" in told
    seven.add(f"9:vllm/long.py:{_id_of('vllm/long.py', 2, one)}")
    assert lane.read(lane.lock.tree)["vllm/long.py"] == start.replace(b"line_2 = 0\n", one)


def _alike_ids(path: str) -> tuple[bytes, bytes, str]:
    """Two lines to write in place of two others, so that the hunks' ids begin alike."""
    seen: dict[str, bytes] = {}
    for number in range(2000):
        line = b"x = %d\n" % number
        seen[_id_of(path, 2, line)[:4]] = line
    for number in range(2000, 4000):
        line = b"x = %d\n" % number
        prefix = _id_of(path, 17, line)[:4]
        if prefix in seen:
            return seen[prefix], line, prefix
    raise AssertionError(path)


def _id_of(path: str, at: int, line: bytes) -> str:
    old = b"line_%d = 0\n" % at
    hunk = Hunk(1, at, (old,), (line,), (old,), (line,), at, at + 1)
    base = [b"line_%d = 0\n" % number for number in range(20)]
    return hunk_ids(path, base, [hunk])[0][0]


def test_what_is_carried_already_is_refused(seven: Carried) -> None:
    seven.add(f"7:{FILE}")
    assert f"lanewright add 7:{FILE}" not in seven.refused("add", f"7:{FILE}")
    assert "carried already" in seven.refused("add", f"7:{FILE}:{seven.ids()[0]}")
    seven.add(f"7:{OTHER}")
    seven.add(f"7:{NEW}")
    assert "is carried already" in seven.refused("add", f"7:{OTHER}")


def test_a_number_that_upstream_does_not_have_is_refused(seven: Carried) -> None:
    assert "has no refs/pull/404/head" in seven.refused("add", "404")
    assert "no entry 'hook'" in seven.refused("add", "hook")


def test_offline_a_new_pull_request_is_refused_and_a_carried_one_can_be_cut(seven: Carried) -> None:
    seven.add(f"7:{OTHER}")
    seven.lane.upstream.rename(seven.lane.upstream.with_name("away.git"))
    assert "upstream.git" in seven.refused("add", "96177")
    seven.add(f"7:{FILE}")
    seven.drop(f"7:{OTHER}")
    assert seven.taken() == ["0", "1", "2"]


def test_a_selection_of_nothing_never_passes(seven: Carried) -> None:
    seven.add(f"7:{OTHER}")
    text = seven.lane.series.read_text()
    for select in ("[]", '["vllm/none.py"]', f'["{OTHER}:beef"]', f'["{OTHER}:"]', '[""]'):
        seven.lane.series.write_text(text.replace(f'["{OTHER}"]', select))
        assert "select" in seven.refused("build")


def test_a_pull_request_that_leaves_vllm_alone_is_refused(seven: Carried) -> None:
    seven.lane.push(8, seven.lane.main[0], {"docs/b.md": b"x\n"})
    assert "nothing below vllm/" in seven.refused("add", "8")


def test_a_pull_request_that_is_in_upstreams_branch_is_refused(seven: Carried) -> None:
    git(seven.lane.upstream, "update-ref", "refs/pull/8/head", seven.lane.main[3])
    assert "#8 is part of refs/heads/main already" in seven.refused("add", "8")


def test_both_names_of_a_renamed_file_are_added_and_dropped_together(seven: Carried) -> None:
    lane, to = seven.lane, "vllm/config/renamed.py"
    content = replaced(at_base(lane, FILE), b"LIMIT = 64", b"LIMIT = 65")
    lane.push(8, lane.main[0], {FILE: None, to: content, NEW: b"added = 1\n"})
    seven.add(f"8:{to}")
    assert seven.select() == [FILE, to]
    tree = lane.read(lane.lock.tree)
    assert (tree.get(FILE), tree[to]) == (None, content)
    seven.add(f"8:{NEW}")
    seven.drop(f"8:{FILE}")
    assert seven.select() == [NEW]


def test_reading_commands_give_json_of_a_selection(seven: Carried) -> None:
    seven.add(f"7:{FILE}")
    seven.drop(f"7:{FILE}:{seven.ids()[0]}")
    seven.capfd.readouterr()
    assert seven.lane.run("list", "--json") == 0
    (entry,) = json.loads(seven.capfd.readouterr().out)["sample"]["entry"]
    assert entry["select"] == seven.select()
    assert seven.lane.run("show", "--json", "sample") == 0
    (shown,) = json.loads(seven.capfd.readouterr().out)
    outcomes = {hunk["outcome"] for hunk in shown["hunks"] if hunk["path"] == FILE}
    assert outcomes == {"clean", "not selected"}
