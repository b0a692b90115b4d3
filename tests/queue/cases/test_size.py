"""Large changes: linear time and bounded memory, seen by what is handed to git and not by a clock.

`tests/queue/test_windows.py` shows that the hunks of a large file become what they would alone.
"""

import tracemalloc

import pytest

from lanewright.queue.merge.windows import MARGIN
from lanewright.store import git as store_git
from tests.queue.cases.lane import Lane, carried

FILE = "vllm/generated.json"
LINES, HUNKS = 10_000, 200


def generated(lines: int, hunks: int) -> tuple[bytes, bytes, bytes, bytes]:
    """A file, two edits of it far apart, and both."""
    base = [b'    "key_%d": %d,\n' % (number, number) for number in range(lines)]
    step = lines // hunks
    ours, theirs, both = (list(base) for _ in range(3))
    for number in range(1, lines, step):
        edited = b'    "key_%d": "ours",\n' % number
        theirs[number] = both[number] = edited
        other = number + step // 2
        if other < lines:
            ours[other] = both[other] = b'    "key_%d": "upstream",\n' % other
    base_text, *others = (b"{\n" + b"".join(text) + b"}\n" for text in (base, ours, theirs, both))
    return base_text, others[0], others[1], others[2]


def test_size_of_a_generated_file_that_upstream_changed_too(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, ours, theirs, both = generated(LINES, HUNKS)
    handed = 0
    real = store_git.Repository.run

    def counted(self: store_git.Repository, *arguments: str, **more: object) -> store_git.Output:
        nonlocal handed
        output = real(self, *arguments, **more)  # type: ignore[arg-type]
        handed += len(output.stdout)
        return output

    monkeypatch.setattr(store_git.Repository, "run", counted)
    assert carried(lane, "pull", {FILE: base}, {FILE: theirs}, {FILE: ours}) == 0
    assert lane.outcomes() == ["merged"] * HUNKS
    assert lane.read() == {FILE: both}
    # The file a few times, and a window per hunk; once per hunk the file would be 40 MB.
    assert handed < 30 * len(base) + HUNKS * 10 * MARGIN * 20


def test_size_of_a_pull_request_of_many_files(lane: Lane) -> None:
    names = [f"vllm/many/{number}.py" for number in range(300)]
    before = dict.fromkeys(names, b"line = 0\nmore = 0\n")
    after = dict.fromkeys(names, b"line = 0\nmore = 1\n")
    moved = {name: b"above = 0\n" * 5 + text for name, text in before.items()}
    tracemalloc.start()
    assert carried(lane, "pull", before, after, moved) == 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lane.outcomes() == ["merged"] * len(names)
    assert peak < 64 << 20


def test_size_of_many_pull_requests(lane: Lane) -> None:
    names = [f"vllm/{number}.py" for number in range(1, 6)]
    base = lane.start(dict.fromkeys(names, b"line = 0\n"))
    for number, name in enumerate(names, 1):
        head = lane.pull({name: b"line = 1\n"}, base, number=number)
        lane.entry(f'pull = {number}\nhead = "{head}"\nbase = "{base}"')
    assert lane.run("build") == 0
    assert lane.read() == dict.fromkeys(names, b"line = 1\n")


@pytest.mark.engine_full
def test_size_of_300000_lines_and_3000_hunks(lane: Lane) -> None:
    base, ours, theirs, both = generated(300_000, 3_000)
    assert carried(lane, "pull", {FILE: base}, {FILE: theirs}, {FILE: ours}) == 0
    assert lane.outcomes() == ["merged"] * 3_000
    assert lane.read() == {FILE: both}


@pytest.mark.engine_full
def test_size_of_2000_files(lane: Lane) -> None:
    names = [f"vllm/many/{number // 100}/{number}.py" for number in range(2_000)]
    before = dict.fromkeys(names[:1_000], b"line = 0\nmore = 0\n")
    after = dict.fromkeys(names, b"line = 0\nmore = 1\n")
    moved = {name: b"above = 0\n" * 5 + text for name, text in before.items()}
    assert carried(lane, "pull", before, after, moved) == 0
    assert lane.outcomes().count("merged") == 1_000
    assert lane.outcomes().count("clean") == 1_000


@pytest.mark.engine_full
def test_size_of_100_pull_requests(lane: Lane) -> None:
    names = [f"vllm/{number}.py" for number in range(1, 101)]
    base = lane.start(dict.fromkeys(names, b"line = 0\n"))
    for number, name in enumerate(names, 1):
        head = lane.pull({name: b"line = 1\n"}, base, number=number)
        lane.entry(f'pull = {number}\nhead = "{head}"\nbase = "{base}"')
    assert lane.run("build") == 0
    assert lane.read() == dict.fromkeys(names, b"line = 1\n")
