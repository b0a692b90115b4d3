"""Hostile pull requests: refused with the file and the rule, or allowed by name."""

import re

import pytest

from tests.queue.cases.hostile import (
    BASE,
    FILE,
    GOOD,
    HOSTILE,
    LINES,
    RLO,
    Hostile,
    link,
    next_of,
    push,
    refused,
)
from tests.queue.cases.lane import Lane, Tree

Capture = pytest.CaptureFixture[str]
each = pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: ascii(each.allowance))


@pytest.fixture
def lane(lane: Lane) -> Lane:
    """A lane that carries nothing yet."""
    lane.start(BASE)
    assert lane.run("build") == 0
    return lane


@each
def test_each_is_refused_by_name_and_let_in_by_name(
    hostile: Hostile, lane: Lane, capfd: Capture
) -> None:
    push(lane, {hostile.path: hostile.content})
    error = refused(lane, capfd, "add", "1")
    shown = hostile.path.replace("\u202e", "\\u202e")
    assert re.search(rf"^  1: {re.escape(shown)}, hunk \w{{10}}", error, re.MULTILINE)
    assert f": {hostile.rule}: " in error
    assert hostile.why in error
    assert "\u202e" not in error
    assert lane.run("add", "1", "--allow", hostile.allowance) == 0
    assert hostile.path in lane.read()
    assert lane.run("verify", "--lock") == 0


@each
def test_what_is_not_chosen_of_it_is_no_matter(hostile: Hostile, lane: Lane) -> None:
    push(lane, {hostile.path: hostile.content})
    assert lane.run("add", f"1:{GOOD}") == 0
    assert lane.read() == {**BASE, GOOD: b"good = 1\n"}


def test_all_of_a_pull_request_is_told_together_and_what_it_says_to_type_allows_it(
    lane: Lane, capfd: Capture
) -> None:
    bad = {each.path: each.content for each in HOSTILE if each.path.isascii()}
    push(lane, bad)
    push(lane, {"vllm/two.pth": b"import two\n"}, number=2)
    error = refused(lane, capfd, "add", "1", "2")
    assert {path for path in [*bad, "vllm/two.pth"] if f": {path}, hunk " in error} == {
        *bad,
        "vllm/two.pth",
    }
    assert lane.run(*next_of(error)) == 0
    assert lane.series.read_text().count("allow = [") == 2


def test_a_link_that_leads_out_is_refused_for_good(lane: Lane, capfd: Capture) -> None:
    push(lane, {"vllm/l": link("../../x")})
    for more in ([], ["--allow", "link:vllm/l"]):
        error = refused(lane, capfd, "add", "1", *more)
        assert ": link: a symlink to '../../x', which may lead out of vllm/; nothing" in error
        assert "add other parts, without 1:vllm/l:" in error


def test_a_link_in_the_place_of_a_removed_file_and_back(lane: Lane, capfd: Capture) -> None:
    base = push(lane, {"vllm/l": link("a")}, number=8)
    lane.upstream.run("update-ref", "refs/heads/main", base)
    lane.pin(base)
    push(lane, {"vllm/l": b"l = 1\n"})
    assert lane.run("add", "1") == 0
    push(lane, {"vllm/l": link("x.py")}, number=2)
    assert ": link: a symlink to 'x.py'" in refused(lane, capfd, "add", "2")


def test_of_a_hunk_its_line_is_told_as_the_chosen_ones_make_it(lane: Lane, capfd: Capture) -> None:
    text = LINES.replace(b"line_1 =", b"new = 0\nnew = 1\nline_1 =")
    push(lane, {FILE: text.replace(b"line_18 = 0", b"line_18 = 0  # " + RLO)})
    error = refused(lane, capfd, "add", "1")
    hunk = re.search(rf"1: {FILE}, hunk (\w{{10}}), line 21: bidi: ", error)
    assert hunk, error
    assert f"1: {FILE}, hunk {hunk[1]}, line 19: " in refused(
        lane, capfd, "add", f"1:{FILE}:{hunk[1]}"
    )


ORDINARY: list[tuple[Tree, Tree]] = [
    ({FILE: b"a = 1\n# \xe2\x80\x8bb\n"}, {FILE: b"if b:\n    # \xe2\x80\x8bb\n    a = 1\n"}),
    ({FILE: b"# \xe2\x80\x8bb\n"}, {"vllm/y.py": b"# \xe2\x80\x8bb\n"}),
    ({FILE: b"# \xe2\x80\x8bb\n"}, {FILE: b"b\n"}),
    ({}, {FILE: b"\xef\xbb\xbfa = 1\r\nb = 2\r\n"}),
    ({}, {FILE: b"# -*- coding: latin-1 -*-\na = '\xe9\xe2'\n"}),
    ({}, {"vllm/x.py": b"#\n#\n# coding: utf-7\n", "vllm/x.txt": b"# coding: utf-7\n"}),
    ({FILE: b"# coding: utf-7\na = 1\n"}, {FILE: b"# coding: utf-7\na = 2\n"}),
    ({}, {"vllm/a.bin": b"\0" + RLO, "vllm/a.md": "\u26a0\ufe0f \u05d0 \u6a21\n".encode()}),
    ({FILE: LINES}, {"vllm/X.py": LINES}),
    ({}, {"vllm/.gitkeep": b"", "vllm/setup/x.py": b"", "vllm/github.py": b"", "vllm/x.txt": b""}),
    ({}, {"vllm/requirements.py": b"", "vllm/ci/x.py": b"", "vllm/dockerfile.py": b""}),
    ({"vllm/old\u200b.py": b"a = 1\n"}, {"vllm/old\u200b.py": b"a = 2\n"}),
    ({"vllm/B.py": b"", "vllm/b.py": b"a = 1\n"}, {"vllm/B.py": b"", "vllm/b.py": b"a = 2\n"}),
]


@pytest.mark.parametrize(("before", "after"), ORDINARY)
def test_what_is_ordinary_or_was_there_before_is_not_refused(
    before: Tree, after: Tree, lane: Lane
) -> None:
    first = lane.start(before)
    lane.pull({**dict.fromkeys(before.keys() - after.keys()), **after}, first)
    assert lane.run("add", "1") == 0
    assert lane.read() == dict(after)


def test_tabs_form_feeds_and_bytes_that_are_no_text_are_no_control_characters(lane: Lane) -> None:
    push(lane, {"vllm/n.py": b"# a\tb\n\x0c\nc = 1\n", "vllm/n.txt": b"\x9b\r\n"})
    assert lane.run("add", "1") == 0


def test_what_is_refused_says_how_to_look_at_it(lane: Lane, capfd: Capture) -> None:
    push(lane, {FILE: LINES + b"# a " + RLO + b"b\n"})
    error = refused(lane, capfd, "add", "1")
    assert f"next: look at it (lanewright show 1:{FILE}); " in error
    assert lane.run("show", f"1:{FILE}") == 0
    assert "\\u202e" in capfd.readouterr().out
