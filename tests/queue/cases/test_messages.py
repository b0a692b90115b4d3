"""What stands in a commit's message, or before a patch, is never taken for a change.

A pull request is read from two trees, so its messages play no part; an own patch has a header.
"""

import pytest

from tests.queue.cases.lane import Lane
from tests.upstream.diff import HEADER, git

FILE, OTHER = "vllm/w.py", "vllm/o.txt"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FIRST = LINES.replace(b"line_1 =", b"one =")

Capture = pytest.CaptureFixture[str]


def shown_diff(lane: Lane, base: str) -> bytes:
    """A whole diff of a file that the change leaves alone."""
    other = lane.commit("refs/heads/other", {FILE: FIRST}, base)
    return git(lane.upstream.path, "diff-tree", "-p", "--full-index", base, other)


def test_diff_in_message_of_a_pull_request(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    message = f"Add o.txt\n\nLike this:\n\n{shown_diff(lane, base).decode()}\n---\nend"
    head = lane.pull({OTHER: b"o\n"}, base, message=message)
    assert lane.run("add", "1") == 0
    assert [hunk.path for hunk in lane.lock.entries[0].hunks] == [OTHER]
    assert lane.read() == {FILE: LINES, OTHER: b"o\n"}
    raw = lane.repository.run("cat-file", "commit", head).stdout
    assert raw.partition(b"\n\n")[2] == f"{message}\n".encode()


def test_diff_in_message_of_an_own_patch_is_indented_text(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    head = lane.pull({OTHER: b"o\n"}, base)
    file = lane.patch(base, head)
    shown = b"".join(b" " + line for line in shown_diff(lane, base).splitlines(keepends=True))
    file.write_bytes(file.read_bytes().replace(b"hook\n", b"hook\n" + shown, 1))
    lane.entry('patch = "own/hook.patch"')
    assert lane.run("build") == 0
    assert lane.read() == {FILE: LINES, OTHER: b"o\n"}


def test_diff_in_message_of_a_mail_is_refused(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    message = f"Add o.txt\n\n{shown_diff(lane, base).decode()}"
    head = lane.pull({OTHER: b"o\n"}, base, message=message)
    mail = git(lane.upstream.path, "format-patch", "--stdout", "--full-index", f"{base}..{head}")
    assert b"\ndiff --git a/vllm/w.py" in mail
    header = HEADER.format(base=f"git:{base}").encode()
    for content in (mail, header + b"\n" + mail, header + mail[mail.index(b"\n\n") :]):
        (lane.root / "patches/own/hook.patch").write_bytes(content)
        if "hook" not in lane.series.read_text():
            lane.entry('patch = "own/hook.patch"')
        assert lane.run("build") == 1
        assert "hook.patch: " in capfd.readouterr().err


def test_dashes_in_message(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    message = "Say more\n\n---\nnot the end\n---\n a.py | 2 +-\n-- \n2.39\n---"
    head = lane.pull({FILE: FIRST}, base, message=message)
    assert lane.run("add", "1") == 0
    assert lane.read() == {FILE: FIRST}
    raw = lane.repository.run("cat-file", "commit", head).stdout
    assert raw.partition(b"\n\n")[2] == f"{message}\n".encode()


def test_dashes_in_the_header_of_an_own_patch(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    file = lane.patch(base, lane.pull({FILE: FIRST}, base))
    file.write_bytes(file.read_bytes().replace(b"hook\n", b"hook\n ---\n --- a/x\n +++ b/x\n", 1))
    lane.entry('patch = "own/hook.patch"')
    assert lane.run("build") == 0
    assert lane.read() == {FILE: FIRST}


def test_combined_diff_is_refused_with_its_cause(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    one = lane.commit("refs/heads/one", {FILE: FIRST}, base)
    two = lane.commit("refs/heads/two", {FILE: LINES.replace(b"line_1 ", b"uno ")}, base)
    merged = lane.pull({FILE: LINES.replace(b"line_1 ", b"both ")}, one, two)
    file = lane.patch(base, merged)
    combined = git(lane.upstream.path, "diff-tree", "--cc", "-p", "--no-commit-id", merged)
    assert combined.startswith(b"diff --cc ")
    header = file.read_bytes().partition(b"diff --git")[0]
    file.write_bytes(header + combined)
    lane.entry('patch = "own/hook.patch"')
    assert lane.run("build") == 1
    said = capfd.readouterr().err
    assert "a combined diff (of a merge) has no single base" in said
    assert "git diff --full-index BASE RESULT" in said


def test_combined_diff_is_not_needed_for_a_pull_request_that_ends_in_a_merge(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    one = lane.commit("refs/heads/one", {FILE: FIRST}, base)
    two = lane.commit("refs/heads/two", {FILE: LINES.replace(b"line_1 ", b"uno ")}, base)
    both = LINES.replace(b"line_1 ", b"both ")
    lane.pull({FILE: both}, one, two)
    assert lane.run("add", "1") == 0
    assert lane.read() == {FILE: both}
