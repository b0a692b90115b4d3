"""Several API servers: each shows our metrics, as a single one does."""

from collections.abc import Callable

import pytest

from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

CHECKS = {
    "one_server_shows_ours": None,
    "one_of_several_servers_shows_ours": None,
    "no_server_shows_anothers": None,
}


@pytest.mark.parametrize("version", ["0.30.0", "0.31.0", "0.32.0"])
def test_metrics_are_there(
    laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory, version: str
) -> None:
    folder = tmp_path_factory.mktemp("several")
    assert laid(version).failures("several_servers.py", folder=folder) == CHECKS
