"""A stand-in for upstream's repository, and a daemon that serves it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.git import Repository
from lanewright.store.remote import Remote, remote_of
from tests.upstream.daemon import serving
from tests.upstream.history import Upstream
from tests.upstream.history import upstream as make


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return make(tmp_path / "served" / "vllm")


@pytest.fixture
def remote(upstream: Upstream) -> Iterator[Remote]:
    """Upstream's repository over git's own protocol."""
    with serving(upstream.path.parent) as base:
        yield remote_of(f"{base}/vllm", place="test")


@pytest.fixture
def store(places: Places) -> Repository:
    """Where the store is; nothing is made yet."""
    return Repository(places.objects)
