"""The wheels of upstream, by the user's own cache and pip's own settings."""

import os

import pytest

from lanewright.places import Places
from tests.contract.releases import Release, releases
from tests.contract.table import Table
from tests.contract.wheels import UnavailableError

# As they are before a test closes its world.
ENVIRONMENT = dict(os.environ)
FOLDER = Places.of_user().store / "contract"


@pytest.fixture(scope="session")
def table() -> Table:
    return Table.read()


@pytest.fixture(scope="session", params=["0.30.0", "0.31.0", "0.32.0", "0.33.0"])
def release(request: pytest.FixtureRequest, table: Table) -> Release:
    """One release of vLLM and the FlashInfer that it requires."""
    try:
        return releases(table, request.param, FOLDER, ENVIRONMENT)
    except UnavailableError as error:
        pytest.skip(str(error))
