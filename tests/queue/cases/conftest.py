"""The lane that every case is tried on."""

from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.git import create
from tests.queue.cases.lane import UPSTREAM, Lane


@pytest.fixture
def lane(tmp_path: Path, places: Places, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """A project with a series that a test begins with ``start``, and an upstream without commits."""
    # The tier of the long ones is made for engines, and leaves them the user's own store.
    monkeypatch.setenv("LANEWRIGHT_STORE", str(places.store))
    monkeypatch.setenv("LANEWRIGHT_STATE", str(places.state))
    upstream = create(tmp_path / "upstream.git")
    upstream.run("symbolic-ref", "HEAD", "refs/heads/main")
    root = tmp_path / "project"
    for folder in ("series", "patches/own", "overlay"):
        (root / folder).mkdir(parents=True)
    (root / "upstream.toml").write_text(UPSTREAM.format(url=upstream.path))
    return Lane(root, places, upstream)
