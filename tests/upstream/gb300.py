"""The two GB300 lanes, by stand-in pull requests.

Their own locks are made where GitHub is reached. What differs from the real series here: the
numbers of the pull requests, the pin, and the device.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanewright.queue.lock import Lock, read_lock
from lanewright.store.objects import files
from tests.upstream.diff import own_patch
from tests.upstream.fixtures import Carrying
from tests.upstream.stand_in.miniature import trees
from tests.upstream.standing import Standing

ROOT = Path(__file__).parents[2]
TWO_BANK, STAGING = "gb300-twobank", "gb300-staging"
STAND_INS = {"56177": "96177", "57943": "97943", "62060": "92060", "41474": "91474"}
POOL = "vllm/model_executor/layers/fused_moe/expert_pool/"
HOOKS = ("moe-two-bank", "moe-usage-counter")
OFFLOAD = "vllm/config/offload.py"
MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


@dataclass(frozen=True)
class Two(Standing):
    """A project with the two lanes on a release, and the stand-in upstream."""

    def lock(self, lane: str) -> Lock:
        """A lane's lock, which must be there."""
        lock = read_lock(self.root / f"series/{lane}.lock")
        assert lock
        return lock

    def paths(self, lane: str) -> set[str]:
        """The files of a lane's tree."""
        return set(files(self.repository, self.lock(lane).tree))

    def add(self, lane: str, *numbers: str) -> int:
        """Pin what a lane names."""
        return self.run("add", *numbers, "--lane", lane)

    def settle(self, lane: str, entry: str) -> None:
        """Resolve an entry's conflicts by keeping both sides."""
        assert self.run("resolve", entry, "--lane", lane) == 0
        folder = self.root / ".lanewright/resolve" / lane / entry
        for file in folder.glob("vllm/**/*.py"):
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(line for line in lines if not line.startswith(MARKS)))
        assert self.run("resolve", entry, "--done", "--lane", lane) == 0


def stand_in_for(text: str) -> str:
    """A text with the stand-ins' numbers."""
    return re.sub("|".join(STAND_INS), lambda found: STAND_INS[found[0]], text)


def laid(root: Path, version: str) -> None:
    """Write the two series, what is known of their pull requests, and our overlay."""
    for lane in (TWO_BANK, STAGING):
        text = stand_in_for((ROOT / f"series/{lane}.toml").read_text())
        text = re.sub('pin = "git:.*"\nrelease = ".*"', f'pin = "release:{version}"', text)
        text = text.replace('device = "cuda"', 'device = "cpu"')
        assert f'pin = "release:{version}"' in text
        (root / f"series/{lane}.toml").write_text(text)
    for number, stand_in in STAND_INS.items():
        known = stand_in_for((ROOT / f"patches/{number}/pr.toml").read_text())
        known = f"adapter = {number}\n{known}"
        (root / f"patches/{stand_in}").mkdir(exist_ok=True)
        (root / f"patches/{stand_in}/pr.toml").write_text(known)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "overlay", root / "overlay", ignore=ignored, dirs_exist_ok=True)


@pytest.fixture
def small(carrying: Carrying) -> Carrying:
    """The two lanes' project on the stand-in in small, where a hook of our own stands for ours."""
    before = {path: content.raw for path, content in trees()[0].items() if path == OFFLOAD}
    after = {OFFLOAD: before[OFFLOAD] + b"\n\nMOE_USAGE_COUNTER = False\n"}
    patch = own_patch(carrying.root.parent / "made", before, after, base="release:0.31.0")
    for hook in HOOKS:
        (carrying.root / f"patches/own/{hook}.patch").write_bytes(patch)
    return carrying
