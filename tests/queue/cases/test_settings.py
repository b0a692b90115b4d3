"""The user's git settings and variables: they change no byte; and hunks that no engine loads.

`tests/store/test_git.py` and `test_remote_closed.py` have more of what a call of git may see.
"""

import shutil
from pathlib import Path

import pytest

from tests.queue.cases.lane import KINDS, Kind, Lane, carried

FILE, NAME = "vllm/x.py", "vllm/\u6a21 b.py"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FIRST, LAST = LINES.replace(b"line_1 =", b"one ="), LINES.replace(b"line_18 =", b"eighteen =")
CLASH = LINES.replace(b"line_1 =", b"uno =")
SETTINGS = """\
[core]
\tquotePath = false
\tautocrlf = true
\tattributesFile = {home}/attributes
\thooksPath = {home}/hooks
\tfsmonitor = touch {home}/ran
\tignoreCase = true
[diff]
\tnoprefix = true
\tmnemonicPrefix = true
\texternal = touch {home}/ran
\talgorithm = patience
\tcontext = 0
\tinterHunkContext = 9
\trenames = copies
\torderFile = {home}/order
\tcolorMoved = true
\tsubmodule = log
[color]
\tui = always
[merge]
\tconflictStyle = zdiff3
\trenames = true
\tdirectoryRenames = true
\tdefault = never
[merge "never"]
\tdriver = touch {home}/ran && false
[commit]
\tgpgSign = true
[user]
\tname = somebody else
[i18n]
\tcommitEncoding = latin-1
[extensions]
\tpartialClone = origin
[url "file:///nowhere/"]
\tinsteadOf = /
"""


def settle(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Set all that a user may have set."""
    (home / "git").mkdir(parents=True)
    for file in (home / ".gitconfig", home / "git/config"):
        file.write_text(SETTINGS.format(home=home))
    (home / "attributes").write_text("* merge=never diff=never -text\n")
    (home / "order").write_text("*.py\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    variables = {
        "GIT_DIR": str(home / "nothing"),
        "GIT_WORK_TREE": str(home),
        "GIT_INDEX_FILE": str(home / "index"),
        "GIT_OBJECT_DIRECTORY": str(home / "objects"),
        "GIT_EXTERNAL_DIFF": f"touch {home}/ran",
        "GIT_DIFF_OPTS": "--unified=0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "diff.noprefix",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_CONFIG_PARAMETERS": "'diff.noprefix=true'",
        "GIT_AUTHOR_DATE": "1 +0000",
        "GIT_PAGER": f"touch {home}/ran",
        "GIT_NAMESPACE": "other",
        "GIT_DEFAULT_HASH": "sha256",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("kind", KINDS)
def test_users_git_settings_change_no_byte(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: Kind
) -> None:
    before, after = {FILE: LINES, NAME: LINES}, {FILE: FIRST, NAME: FIRST}
    assert carried(lane, kind, before, after, {FILE: LAST, NAME: LAST}) == 0
    file = lane.root / "series/sample.lock"
    lock = file.read_bytes()
    file.unlink()
    shutil.rmtree(lane.places.store)
    settle(monkeypatch, tmp_path / "home")
    assert lane.run("build") == 0
    assert file.read_bytes() == lock
    assert not (tmp_path / "home/ran").exists()


def test_users_git_settings_change_no_mark_of_a_conflict(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settle(monkeypatch, tmp_path / "home")
    assert carried(lane, "pull", {FILE: LINES}, {FILE: FIRST}, {FILE: CLASH}) == 3
    assert lane.run("resolve", "1") == 0
    marked = (lane.root / ".lanewright/resolve/sample/1" / FILE).read_bytes()
    assert b"||||||| " in marked
    assert marked.count(b"line_0 = 0\n") == 1
    assert not (tmp_path / "home/ran").exists()


def test_users_git_settings_of_the_stores_own_repository(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    head = lane.pull({FILE: FIRST}, base)
    assert lane.run("build") == 0
    with (lane.places.objects / "config").open("a") as file:
        file.write("[diff]\n\tnoprefix = true\n\trenames = copies\n[core]\n\tautocrlf = true\n")
    assert lane.carry("pull", base, head) == 0
    assert lane.read() == {FILE: FIRST}
