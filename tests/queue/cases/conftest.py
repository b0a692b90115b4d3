"""The lane that every case is tried on."""

from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.git import create
from tests.queue.cases.lane import UPSTREAM, Lane
from tests.upstream.wheels import make_wheel


@pytest.fixture
def lane(tmp_path: Path, places: Places) -> Lane:
    """A project with a series that a test begins with ``start``, and an upstream without commits."""
    make_wheel(places.wheels, "0.31.0", {"vllm/_C.abi3.so": b"\x7fELF stand-in"})
    upstream = create(tmp_path / "upstream.git")
    upstream.run("symbolic-ref", "HEAD", "refs/heads/main")
    root = tmp_path / "project"
    for folder in ("series", "patches/own", "overlay"):
        (root / folder).mkdir(parents=True)
    (root / "upstream.toml").write_text(UPSTREAM.format(url=upstream.path))
    return Lane(root, places, upstream)
