"""The noxfile's sessions by the real nox, where ``lanewright`` ends as a test has it.

What ``nox -s build-image`` makes of the real one: ``tests/image/test_gb300_session.py``.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.queue.test_unpinned import TO_PIN, unpinned
from tests.upstream.fixtures import Carrying

__all__ = ["unpinned"]
ROOT = Path(__file__).parents[2]
# Tells what it was called with, and ends with the code that its first words were given.
LANEWRIGHT = """\
#!/bin/sh
echo "$*" >>"$CALLS"
while read -r code words; do
  case "$*" in "$words"*) exit "$code" ;; esac
done <"$ENDINGS"
"""
NIGHTLY = "ci/nightly"

pytestmark = pytest.mark.skipif(not shutil.which("nox"), reason="nox is not on PATH")


@dataclass(frozen=True)
class Ended:
    """What a run came to: its exit code, its log, and the calls of lanewright."""

    code: int
    log: str
    calls: list[str]


def run(root: Path, endings: Mapping[str, int], *command: str) -> Ended:
    """Run a command where the project has this noxfile, and nox makes no environment."""
    (root / "bin").mkdir()
    (root / "ci").mkdir()
    for name in ("noxfile.py", "pyproject.toml", NIGHTLY):
        shutil.copy(ROOT / name, root / name)
    (root / "calls").write_text("")
    (root / "endings").write_text("".join(f"{code} {words}\n" for words, code in endings.items()))
    programs = {
        "lanewright": LANEWRIGHT,
        "nox": f'#!/bin/sh\nexec "{shutil.which("nox")}" --no-venv --no-install "$@"\n',
        "nvidia-smi": "#!/bin/sh\nexit 9\n",
    }
    for name, text in programs.items():
        (root / "bin" / name).write_text(text)
        (root / "bin" / name).chmod(0o755)
    ended = subprocess.run(
        command,
        env={
            **os.environ,
            "PATH": f"{root / 'bin'}:{os.environ['PATH']}",
            "CALLS": str(root / "calls"),
            "ENDINGS": str(root / "endings"),
        },
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    calls = (root / "calls").read_text().splitlines()
    return Ended(ended.returncode, ended.stderr, calls)


def build_image(root: Path, *words: str, **endings: int) -> Ended:
    found = {words.replace("_", " "): code for words, code in endings.items()}
    return run(root, found, "nox", "--nocolor", "-s", "build-image", "--", *words)


def test_a_lane_is_built_based_proven_and_smoked(tmp_path: Path) -> None:
    ended = build_image(tmp_path, "some")
    assert ended.code == 0, ended.log
    assert ended.calls == [
        "build some",
        "image mirror --optional some",
        "image base --optional some",
        "image some",
        "boot --equal some",
        "image smoke --optional some",
    ]


@pytest.mark.parametrize("words", [("some", "--base", "DIR"), ("--base=DIR", "some")])
def test_with_another_base_none_is_sought(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = build_image(tmp_path, *words)
    assert ended.calls[1] in ("image some --base DIR", "image some --base=DIR")
    assert ended.calls[2] == "boot --equal some"


@pytest.mark.parametrize("words", [("some", "--base"), ("--base",)])
def test_a_base_that_is_not_named_is_told(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = build_image(tmp_path, *words)
    assert ended.code == 1
    assert "--base takes an image: -- LANE --base IMAGE" in ended.log
    assert ended.calls == []


@pytest.mark.parametrize(
    ("endings", "code", "what"),
    [
        ({"image_mirror": 1, "image_some": 1}, 1, "image mirror --optional some"),
        ({"image_base": 1}, 1, "image base --optional some"),
        # A failure is worse than hardware that is not here, and what comes last is no matter.
        ({"image_mirror": 1, "boot": 6}, 1, "image mirror --optional some"),
        ({"image_mirror": 1, "boot": 5}, 5, "boot --equal some"),
        ({"image_base": 5, "image_some": 1}, 5, "image base --optional some"),
        ({"boot": 6}, 6, "boot --equal some"),
        ({"image_smoke": 5}, 5, "image smoke --optional some"),
    ],
)
def test_a_step_that_fails_keeps_nox_from_no_other(
    tmp_path: Path, endings: dict[str, int], code: int, what: str
) -> None:
    ended = build_image(tmp_path, "some", **endings)
    assert ended.code == 1
    assert {"image some", "boot --equal some"} <= set(ended.calls)
    smoked = "image smoke --optional some" in ended.calls
    assert smoked == (not {"image_some", "boot"} & set(endings)), "it has something to compare"
    told = [line for line in ended.log.splitlines() if " failed with exit code " in line]
    assert told[-1].endswith(f"lanewright {what} failed with exit code {code}")


def test_a_lane_that_is_not_built_goes_no_further(tmp_path: Path) -> None:
    ended = build_image(tmp_path, "some", "--base", "a b", build=3)
    assert ended.code == 1
    assert ended.calls == ["build some"]
    again = "nox -s build-image -- some --base 'a b'"
    assert f"no lane was built: type what `next:` above names, then `{again}` again" in ended.log


def test_a_lane_that_is_not_pinned_yet_says_what_to_type(unpinned: Carrying) -> None:
    """By the real lanewright."""
    program = unpinned.root.parent / "programs/lanewright"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lanewright "$@"\n')
    program.chmod(0o755)
    for name in ("noxfile.py", "pyproject.toml"):
        shutil.copy(ROOT / name, unpinned.root / name)
    nox = [shutil.which("nox") or "", "--nocolor", "--no-venv", "--no-install"]
    paths = [str(ROOT / "tools"), str(ROOT / "overlay")]
    ended = subprocess.run(
        [*nox, "-s", "build-image", "--", "sample"],
        env={
            **os.environ,
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(paths),
        },
        cwd=unpinned.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    lines = [line.strip() for line in ended.stdout.splitlines()]
    assert f"next: {TO_PIN}" in lines
    told = "type what `next:` above names, then `nox -s build-image -- sample` again"
    assert lines.index(f"next: {TO_PIN}") < next(n for n, line in enumerate(lines) if told in line)


@pytest.mark.parametrize("ending", [0, 3, 6])
def test_the_script_of_a_night_ends_as_that_does(tmp_path: Path, ending: int) -> None:
    ended = run(tmp_path, {"nightly": ending} if ending else {}, NIGHTLY, "some", "other")
    assert ended.calls == ["nightly some other"]
    assert ended.code == ending


MIRROR = "image mirror --optional --every"


@pytest.mark.parametrize(
    ("ending", "words", "mirrors"),
    [
        (0, [], True),
        # Other lanes than the one that stays have new locks.
        (3, [], True),
        (1, ["--to", "nightly"], True),
        (2, ["--no-such"], False),
        (130, [], False),
        (0, ["--check"], False),
        (4, ["--check"], False),
    ],
)
def test_a_rebase_keeps_the_bases_of_new_locks(
    tmp_path: Path, ending: int, words: list[str], *, mirrors: bool
) -> None:
    endings = {"rebase": ending} if ending else {}
    ended = run(tmp_path, endings, "nox", "--nocolor", "-s", "rebase", "--", *words)
    assert ended.calls == [" ".join(["rebase", *words]), *([MIRROR] if mirrors else [])]
    assert ended.code == (1 if ending else 0)
    if ending:
        assert f"failed with exit code {ending}\n" in ended.log


def test_a_base_that_cannot_be_kept_fails_a_rebase(tmp_path: Path) -> None:
    ended = run(tmp_path, {"image mirror": 5}, "nox", "--nocolor", "-s", "rebase")
    assert ended.code == 1
    assert f"lanewright {MIRROR} failed with exit code 5\n" in ended.log
