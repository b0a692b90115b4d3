"""torch's wheel in both papers beside an archive: of a base that tells it, and of an older one."""

import json
from pathlib import Path
from typing import Any

import pytest

from lanewright.queue.lock import Lock
from tests.conftest import World
from tests.image.bases import Base, of_pin
from tests.image.conftest import ROOT

VERSION, DIGEST = "2.13.0+cpu", "4" * 64
MADE = {"dev.lanewright.base.recipe": f"sha256:{'3' * 64}", "dev.lanewright.base.torch": VERSION}
TELLING = {**MADE, "dev.lanewright.base.torch-wheel": f"sha256:{DIGEST}"}
URL = "pkg:pypi/torch@2.13.0%2Bcpu"
Found = tuple[Any, list[Any]]


@pytest.fixture
def found(imaged: World, amd64: Lock, tmp_path: Path, request: pytest.FixtureRequest) -> Found:
    """The bill's part and the provenance's dependencies, on a base with these labels."""
    paths = {
        **of_pin(imaged.repository, amd64),
        f"{ROOT}/torch-{VERSION}.dist-info/METADATA": b"",
    }
    base = Base([paths], run={"Labels": request.param}).lay(tmp_path / "base")
    out = tmp_path / "out"
    assert imaged.run("image", "--base", str(base), "--archive", str(out)) == 0
    bill = json.loads((out / "sample.cdx.json").read_bytes())
    (torch,) = [each for each in bill["components"] if each.get("purl") == URL]
    stated = json.loads((out / "sample.oci.provenance.json").read_bytes())
    made_of = stated["predicate"]["buildDefinition"]["resolvedDependencies"]
    return torch, [each for each in made_of if "torch" in each["name"]]


@pytest.mark.parametrize("found", [TELLING], indirect=True)
def test_its_hash_is_in_both(found: Found) -> None:
    torch, (told,) = found
    assert torch["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]
    assert told == {"name": f"torch {VERSION}", "uri": URL, "digest": {"sha256": DIGEST}}


@pytest.mark.parametrize(
    "found", [MADE, {**TELLING, "dev.lanewright.base.torch-wheel": "sha256:4"}], indirect=True
)
def test_a_base_that_does_not_tell_it_is_read_all_the_same(found: Found) -> None:
    torch, told = found
    assert "hashes" not in torch
    assert told == []
