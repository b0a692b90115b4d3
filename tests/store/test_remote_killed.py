"""Fetches that are killed, or run beside each other, leave a store that the next one can use."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.fetching import fetch_refs
from lanewright.store.git import Repository
from lanewright.store.remote import Remote
from tests.upstream.history import Upstream

MAIN, PULL = "refs/heads/main", "refs/pull/7/head"
SCRIPT = """\
import sys
from pathlib import Path
from lanewright.places import Places
from lanewright.store.fetching import fetch_refs
from lanewright.store.remote import Remote
store, state, url, *refs = sys.argv[1:]
fetch_refs(Places(Path(store), Path(state)), Remote(url), refs)
"""


def start(
    places: Places, remote: Remote, name: str, env: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(places.store), str(places.state), remote.url, name],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )


def hanging_git(folder: Path, moment: str) -> dict[str, str]:
    """An environment whose git hangs before or after it fetches, and then writes its number."""
    folder.mkdir()
    real = shutil.which("git")
    hang = f"echo $$ >{folder}/new && mv {folder}/new {folder}/hanging; exec sleep 300"
    calls = {"before": hang, "after": f'{real} "$@"; {hang}'}
    script = folder / "git"
    script.write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = fetch ] && {{ {calls[moment]}; }}; done\n'
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_fetch_killed_in_the_middle_is_made_by_the_next(
    places: Places,
    store: Repository,
    remote: Remote,
    upstream: Upstream,
    tmp_path: Path,
    moment: str,
) -> None:
    process = start(places, remote, MAIN, hanging_git(tmp_path / "bin", moment))
    while not (tmp_path / "bin/hanging").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    left = Path("/proc", (tmp_path / "bin/hanging").read_text().strip())
    while left.exists():  # its guard ends it
        time.sleep(0.02)
    assert not list((store.path / "objects/pack").glob("*"))
    assert store.run("for-each-ref").stdout == b""
    assert fetch_refs(places, remote, [MAIN]) == {MAIN: upstream.id("main")}
    assert not list((places.store / "incoming").iterdir())
    store.run("fsck", "--full", "--strict")


def test_fetches_at_once_all_end_well(
    places: Places, store: Repository, remote: Remote, upstream: Upstream
) -> None:
    running = [start(places, remote, name) for name in (MAIN, PULL, MAIN)]
    ended = [(process.communicate()[1], process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0, 0], ended
    tips = store.run("for-each-ref", "--format=%(objectname)").stdout.decode().split()
    assert set(tips) == {upstream.id("main"), upstream.id(PULL)}
    store.run("fsck", "--full", "--strict")
