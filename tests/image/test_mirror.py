"""``image mirror``: a base from a real registry, kept by its digests when that has it no more."""

import json
from pathlib import Path

import pytest

from lanewright.queue.lock import Lock
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, of_pin
from tests.image.naming import named
from tests.image.programs import output, program
from tests.image.registry import registry

pytestmark = pytest.mark.image
Capture = pytest.CaptureFixture[str]


def skopeo(*words: str) -> str:
    return output(program("skopeo"), *words)


def published(base: Path, name: str) -> None:
    flags = ["--all", "--preserve-digests", "--dest-tls-verify=false"]
    skopeo("copy", *flags, f"oci:{base}", f"docker://{name}")


@pytest.mark.parametrize("kind", ["oci", "docker"])
@pytest.mark.parametrize("by", ["list", "image", "both"])
def test_a_base_is_kept(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture, by: str, kind: str
) -> None:
    paths = of_pin(imaged.repository, lock)
    made = Base([paths], packed="gzip", architectures=["amd64", "arm64"], docker=kind == "docker")
    base = made.lay(tmp_path / "base")
    (listed,) = json.loads((base / "index.json").read_bytes())["manifests"]
    blob = base / "blobs" / listed["digest"].replace(":", "/")
    _, arm64 = json.loads(blob.read_bytes())["manifests"]
    with registry(tmp_path) as address:
        name = f"{address}/vllm/vllm-openai:nightly"
        published(base, name)
        digest = listed["digest"] if by == "list" else arm64["digest"]
        named(imaged, "sample", name, digest, listed["digest"] if by == "both" else None)
        assert imaged.run("image") == 1
        assert "next: lanewright image mirror sample" in capfd.readouterr().err
        assert imaged.run("image", "mirror", "--json") == 0
        told = onto.printed(capfd.readouterr().out)
    assert told["digest"] == arm64["digest"]
    assert told["index"] == (None if by == "image" else listed["digest"])
    # It is gone, and is not asked for again.
    assert imaged.run("image", "mirror") == 0
    assert imaged.run("image") == 0
    config = onto.config_of(onto.the_folder(imaged))
    assert config["architecture"] == "arm64"
    labels = config["config"]["Labels"]
    assert labels["org.opencontainers.image.base.digest"] == arm64["digest"]
    assert labels["org.opencontainers.image.base.name"] == name
    assert imaged.run("verify", "--image") == 0


def test_another_image_under_the_name(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    base = Base([of_pin(imaged.repository, lock)], architectures=["arm64"]).lay(tmp_path / "base")
    with registry(tmp_path) as address:
        name = f"{address}/vllm/vllm-openai:nightly"
        published(base, name)
        named(imaged, "sample", name, f"sha256:{'1' * 64}")
        assert imaged.run("image", "mirror") == 1
    err = capfd.readouterr().err
    assert "cannot read docker://localhost" in err
    assert not list(imaged.places.base_images.glob("sha256-*"))


def test_nobody_answers(imaged: World, lock: Lock, capfd: Capture) -> None:
    assert lock.layer
    assert program("skopeo")
    named(imaged, "sample", "localhost:1/vllm/vllm-openai:nightly", f"sha256:{'1' * 64}")
    # A tool that is missing is told; a registry that is away is a failure all the same.
    for words in ([], ["--optional"], ["--every"]):
        assert imaged.run("image", "mirror", *words) == 1
        err = capfd.readouterr().err
        assert "lane sample: its base localhost:1/vllm/vllm-openai:nightly is not kept" in err
        assert "connection refused" in err
        assert "next: lanewright image mirror sample, once its registry answers" in err


def test_a_lane_whose_registry_is_away_hides_no_other(
    imaged: World, lock: Lock, tmp_path: Path, capfd: Capture
) -> None:
    base = Base([of_pin(imaged.repository, lock)], architectures=["arm64"]).lay(tmp_path / "base")
    (listed,) = json.loads((base / "index.json").read_bytes())["manifests"]
    named(imaged, "sample", "localhost:1/vllm/vllm-openai:nightly", f"sha256:{'1' * 64}")
    with registry(tmp_path) as address:
        name = f"{address}/vllm/vllm-openai:nightly"
        published(base, name)
        named(imaged, "a-first", name, listed["digest"])
        named(imaged, "z-last", name, f"sha256:{'2' * 64}")
        capfd.readouterr()
        assert imaged.run("image", "mirror", "--optional", "--every") == 1
    captured = capfd.readouterr()
    assert captured.out.startswith(listed["digest"])
    assert len(captured.out.splitlines()) == 1
    for lane in ("sample", "z-last"):
        assert f"lanewright: lane {lane}: its base" in captured.err
        assert f"next: lanewright image mirror {lane}" in captured.err
    assert imaged.run("image", "a-first") == 0


def test_archives_of_others(imaged: World, lock: Lock, tmp_path: Path) -> None:
    paths = of_pin(imaged.repository, lock)
    base = Base([paths], architectures=["amd64"]).lay(tmp_path / "base")
    imaged.edit("series/sample.toml", "[image]\n", '[image]\narchitecture = "amd64"\n')
    assert imaged.run("build") == 0
    made: dict[str, Path] = {}
    for kind in ("oci-archive", "docker-archive"):
        archive = tmp_path / f"{kind}.tar"
        name = ":vllm:base" if kind == "docker-archive" else ""
        skopeo("copy", f"oci:{base}", f"{kind}:{archive}{name}")
        assert imaged.run("image", "--base", str(archive)) == 0
        (folder,) = set(onto.folders(imaged)) - set(made.values())
        made[kind] = folder
        assert onto.config_of(folder)["config"]["Entrypoint"] == ["vllm", "serve"]
    assert imaged.run("verify") == 0
