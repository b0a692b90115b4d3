"""What matplotlib keeps of the machine's fonts, for tests whose nights write pages."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """matplotlib lists the machine's fonts once, and not in every test's own home."""
    folder = tmp_path_factory.mktemp("matplotlib")
    before = os.environ.get("MPLCONFIGDIR")
    os.environ["MPLCONFIGDIR"] = str(folder)
    yield
    if before is None:
        del os.environ["MPLCONFIGDIR"]
    else:
        os.environ["MPLCONFIGDIR"] = before
