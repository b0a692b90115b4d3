"""What upstream has already: said as such, and never taken back.

`tests/queue/test_outcomes.py` has more of it for own patches.
"""

import pytest

from tests.queue.cases.lane import KINDS, MAIN, Kind, Lane, carried

FILE = "vllm/x.py"
INDENTED = b"def f(x):\n    if x:\n        g()\n\n\n\n    h()\n"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FIRST, LAST = LINES.replace(b"line_1 =", b"one ="), LINES.replace(b"line_18 =", b"eighteen =")
BOTH = FIRST.replace(b"line_18 =", b"eighteen =")

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("kind", KINDS)
def test_whitespace_equality_has_not_landed(lane: Lane, kind: Kind) -> None:
    ours = INDENTED.replace(b"        g()\n", b"        g()\n        k()\n")
    theirs = INDENTED.replace(b"        g()\n", b"        g()\n    k()\n")
    assert carried(lane, kind, {FILE: INDENTED}, {FILE: ours}, {FILE: theirs}) == 3
    assert lane.outcomes() == ["conflict"]


@pytest.mark.parametrize("kind", KINDS)
def test_landed_already_and_again(lane: Lane, capfd: Capture, kind: Kind) -> None:
    fixed = BOTH + b"fix_of_upstream = 1\n"
    assert carried(lane, kind, {FILE: LINES}, {FILE: FIRST}, {FILE: fixed}) == 0
    assert lane.outcomes() == ["landed"]
    assert lane.lock.tree == lane.lock.pin.tree
    lock = lane.lock
    assert lane.run("build") == 0
    assert lane.lock == lock
    assert lane.read() == {FILE: fixed}
    capfd.readouterr()
    assert lane.run("report") == 0
    assert "1 hunk in 1 file: 1 landed" in capfd.readouterr().out


@pytest.mark.parametrize("kind", KINDS)
def test_landed_already_then_reverted_upstream_is_carried_again(
    lane: Lane, capfd: Capture, kind: Kind
) -> None:
    assert carried(lane, kind, {FILE: LINES}, {FILE: FIRST}, {FILE: FIRST}) == 0
    back = lane.commit(MAIN, {FILE: LINES}, lane.lock.pin.commit)
    capfd.readouterr()
    assert lane.run("rebase", "--to", back) == 0
    assert "was reverted upstream, and is carried again" in "".join(capfd.readouterr())
    assert lane.read() == {FILE: FIRST}


@pytest.mark.parametrize("kind", KINDS)
def test_half_landed(lane: Lane, kind: Kind) -> None:
    assert carried(lane, kind, {FILE: LINES}, {FILE: BOTH}, {FILE: FIRST}) == 0
    assert lane.outcomes() == ["landed", "merged"]
    assert lane.read() == {FILE: BOTH}


def test_squash_of_three_commits_and_a_pull_request_on_top(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    one = lane.commit("refs/heads/one", {"vllm/added.py": b"added = 1\n"}, base)
    two = lane.commit("refs/heads/one", {FILE: FIRST}, one)
    three = lane.pull({FILE: BOTH}, two, number=1)
    head = lane.pull({"vllm/added.py": None}, three, number=2)
    assert [lane.run("add", number) for number in ("1", "2")] == [0, 0]
    assert "#2 is stacked on #1" in capfd.readouterr().err
    assert lane.lock.entries[1].pull
    assert lane.lock.entries[1].pull.base == three
    squashed = lane.commit(MAIN, {"vllm/added.py": b"added = 1\n", FILE: BOTH}, base)
    assert lane.run("rebase", "--to", squashed) == 0
    said = "".join(capfd.readouterr())
    assert "all of it has landed: lanewright drop 1" in said
    assert [lane.outcomes(0), lane.outcomes(1)] == [["landed"] * 3, ["clean"]]
    assert lane.run("drop", "1") == 0
    assert lane.read() == {FILE: BOTH}
    lane.pull({FILE: BOTH + b"more = 1\n"}, head, number=2)
    assert lane.run("add", "2", "--update") == 0
    assert lane.read() == {FILE: BOTH + b"more = 1\n"}
    assert "gone" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("kind", KINDS)
def test_landed_with_edits_is_dropped_by_a_recorded_decision_alone(
    lane: Lane, capfd: Capture, kind: Kind
) -> None:
    added = b"    for row in rows:\n        total += row.size\n    return total\n"
    body = b"def f(rows):\n    total = 0\n"
    ours, theirs = body + added, body + added.replace(b"row.", b"each.").replace(b"row ", b"each ")
    around = LINES + body + b"\n\n" + LAST
    before, after = ({FILE: around.replace(body, text)} for text in (body, ours))
    assert carried(lane, kind, before, after, {FILE: around.replace(body, theirs)}) == 3
    (hunk,) = lane.hunks()
    assert (hunk.outcome, hunk.open) == ("landed changed", True)
    assert "-        total += row.size" in hunk.difference
    assert "+        total += each.size" in hunk.difference
    name = "hook" if kind == "patch" else "1"
    assert lane.run("drop", f"{name}:{FILE}:{hunk.id}", "--landed") == 0
    assert lane.read() == {FILE: around.replace(body, theirs)}
    (hunk,) = lane.lock.entries[0].hunks
    assert (hunk.outcome, hunk.open) == ("landed changed", False)
    assert "recorded as landed with edits" in hunk.cause
    assert hunk.difference
    capfd.readouterr()
