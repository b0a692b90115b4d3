"""A lane's image on a base: its base's, with one layer more."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.image.layout import layout_folder
from lanewright.image.stamps import told_entries
from lanewright.queue.lock import Lock, layer_of, read_lock
from tests.conftest import World
from tests.image import onto
from tests.image.bases import Base, Paths, of_pin
from tests.image.conftest import ROOT
from tests.image.naming import named

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def paths(imaged: World, lock: Lock) -> Paths:
    return of_pin(imaged.repository, lock)


@pytest.fixture
def world(imaged: World) -> World:
    """Its lane is for arm64, whatever this machine is."""
    root = imaged.root / "series/sample.toml"
    root.write_text(root.read_text().replace("[image]\n", '[image]\narchitecture = "arm64"\n'))
    assert imaged.run("build") == 0
    return imaged


def image(world: World, base: Path) -> Path:
    assert world.run("image", "--base", str(base)) == 0
    return onto.the_folder(world)


FORMS = {
    "oci": {},
    "gzip": {"packed": "gzip"},
    "zstd": {"packed": "zstd"},
    "docker": {"docker": True, "packed": "gzip"},
}


@pytest.mark.parametrize("form", FORMS)
def test_from_a_list_of_two_architectures(
    world: World, paths: Paths, tmp_path: Path, form: str, capfd: Capture
) -> None:
    made = Base([paths], architectures=["amd64", "arm64"], **FORMS[form])  # type: ignore[arg-type]
    base = made.lay(tmp_path / "base")
    before = onto.contents(base)
    folder = image(world, base)
    lock = read_lock(world.lock)
    assert lock
    assert onto.contents(base) == before
    config, manifest = onto.config_of(folder), onto.manifest_of(folder)
    assert (config["architecture"], config["os"]) == ("arm64", "linux")
    assert config["config"]["Entrypoint"] == ["vllm", "serve"]
    labels = config["config"]["Labels"]
    assert labels["maker"] == "others"
    assert labels["dev.lanewright.tree"] == lock.tree
    assert labels["org.opencontainers.image.created"] == config["created"] == "2026-09-28T06:00:00Z"
    assert labels["org.opencontainers.image.version"] == f"1.1+lane.sample.{lock.tree[:8]}"
    assert manifest["annotations"] == {k: v for k, v in labels.items() if k != "maker"}
    *under, top = manifest["layers"]
    assert top["digest"] == config["rootfs"]["diff_ids"][-1] == layer_of(lock).digest
    assert all(each["digest"].removeprefix("sha256:") in onto.blobs(base) for each in under)
    assert all("docker" not in each["mediaType"] for each in manifest["layers"])
    assert len(config["history"]) == len(manifest["layers"]) == 3
    hook, package = told_entries(labels)
    assert (hook.kind, sum(map(len, hook.hunks.values()))) == ("patch", 3)
    assert (package.kind, package.files) == ("overlay", len(lock.entries[1].files))
    assert world.run("verify", "--image") == 0
    assert "linux/arm64" in capfd.readouterr().err


def test_a_base_has_a_revision_of_its_own(world: World, paths: Paths, tmp_path: Path) -> None:
    """Beside vLLM's address it would be taken for vLLM's."""
    key = "org.opencontainers.image.revision"
    base = Base([paths], architectures=["arm64"], run={"Labels": {key: "8" * 40, "more": "1"}})
    assert world.run("image", "--base", str(base.lay(tmp_path / "base"))) == 0
    labels = onto.config_of(onto.the_folder(world))["config"]["Labels"]
    assert key not in labels
    assert labels["more"] == "1"
    assert world.run("verify", "--image") == 0


def test_twice_the_same(world: World, paths: Paths, tmp_path: Path) -> None:
    base = Base([paths], architectures=["amd64", "arm64"]).lay(tmp_path / "base")
    first = onto.contents(image(world, base))
    for folder in (world.places.layouts, world.places.base_images):
        shutil.rmtree(folder)
    assert onto.contents(image(world, base)) == first


def test_an_edit_makes_one_layer_and_shares_the_rest(
    world: World, paths: Paths, tmp_path: Path
) -> None:
    base = Base([paths], architectures=["arm64"]).lay(tmp_path / "base")
    before = onto.blobs(image(world, base))
    first = read_lock(world.lock)
    world.edit("overlay/sample_package/__init__.py", "Ours", "Still ours")
    assert world.run("build") == 0
    assert world.run("image", "--base", str(base)) == 0
    second = read_lock(world.lock)
    assert first
    assert second
    assert layer_of(first).digest != layer_of(second).digest
    after = next(
        onto.blobs(f)
        for f in onto.folders(world)
        if layout_folder(world.places, second).name in f.name
    )
    shared = before.keys() & after.keys()
    own = {layer_of(second).digest.removeprefix("sha256:")}
    # Its layer, its configuration and its manifest; every other blob is the same file on disk.
    assert len(after.keys() - shared) == 3
    assert own < after.keys() - shared
    assert {name: before[name] for name in shared} == {name: after[name] for name in shared}
    assert shared == onto.blobs(base).keys() & before.keys()


def test_the_same_base_need_not_be_named_by_path(
    world: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    base = Base([paths], architectures=["arm64"]).lay(tmp_path / "base")
    folder = image(world, base)
    shutil.rmtree(base)
    digest = onto.config_of(folder)["config"]["Labels"]["org.opencontainers.image.base.digest"]
    capfd.readouterr()
    assert world.run("image", "--base", digest, "--json") == 0
    told = onto.printed(capfd.readouterr().out)
    assert told["base"] == digest
    assert told["folder"] == str(folder)


def test_status_names_the_image_and_of_several_the_one_on_the_lanes_own_base(
    world: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    own = Base([paths], architectures=["arm64"]).lay(tmp_path / "own")
    digest = onto.load(own / "index.json")["manifests"][0]["digest"]
    named(world, "sample", "docker.io/vllm/vllm-openai:nightly", digest)
    folder = image(world, own)
    assert world.run("image") == 0  # the layer alone is there, too
    capfd.readouterr()
    assert world.run("status") == 0
    assert f"  image: {folder}\n" in capfd.readouterr().out
    other = Base([paths, {"else": b""}], architectures=["arm64"]).lay(tmp_path / "other")
    assert world.run("image", "--base", str(other)) == 0
    assert len(onto.folders(world)) == 2
    capfd.readouterr()
    assert world.run("status", "--json") == 0
    assert onto.printed(capfd.readouterr().out)[0]["image"] == str(folder)
    shutil.rmtree(world.places.base_images)
    assert world.run("status") == 0
    newest = next(each for each in onto.folders(world) if each != folder)
    assert f"  image: {newest}\n" in capfd.readouterr().out


def test_a_lane_without_base_gets_its_layer(world: World, capfd: Capture) -> None:
    capfd.readouterr()
    assert world.run("image") == 0
    captured = capfd.readouterr()
    lock = read_lock(world.lock)
    assert lock
    assert captured.out.startswith(layer_of(lock).digest)
    assert (
        "no image yet, for there is no base\n  next: lanewright image base sample" in captured.err
    )


def test_a_base_for_another_architecture(
    world: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    base = Base([paths], architectures=["amd64"]).lay(tmp_path / "base")
    assert world.run("image", "--base", str(base)) == 1
    assert "has no image for linux/arm64; it has linux/amd64" in capfd.readouterr().err


def nothing(path: Path) -> None:
    path.mkdir()


def no_json(path: Path) -> None:
    path.mkdir()
    (path / "index.json").write_text("{")


def a_text(path: Path) -> None:
    path.write_text("hello")


NO_BASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "an empty folder": (nothing, "is no OCI layout, or not whole: index.json"),
    "broken JSON": (no_json, "index.json cannot be read"),
    "a text": (a_text, "is no archive of an image"),
    "nothing": (lambda _: None, "there is no base image"),
}


@pytest.mark.parametrize("case", NO_BASES)
def test_what_is_no_base(world: World, tmp_path: Path, capfd: Capture, case: str) -> None:
    make, told = NO_BASES[case]
    make(tmp_path / "base")
    assert world.run("image", "--base", str(tmp_path / "base")) == 1
    assert told in capfd.readouterr().err


def test_a_damaged_layer_is_told(
    world: World, paths: Paths, tmp_path: Path, capfd: Capture
) -> None:
    base = Base([paths], architectures=["arm64"]).lay(tmp_path / "base")
    layer = max((base / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(layer.read_bytes())
    content[content.index(b"__version__")] ^= 1
    layer.write_bytes(content)
    assert world.run("image", "--base", str(base)) == 1
    assert "it is damaged" in capfd.readouterr().err
    assert not onto.folders(world)


def test_out_is_the_image(world: World, paths: Paths, tmp_path: Path, capfd: Capture) -> None:
    base = Base([paths], architectures=["arm64"]).lay(tmp_path / "base")
    out = tmp_path / "out"
    assert world.run("image", "--base", str(base), "--out", str(out)) == 0
    assert capfd.readouterr().out.split()[1] == str(out)
    assert onto.config_of(out)["architecture"] == "arm64"
    assert (
        f"{ROOT}/vllm/config.py".encode()
        in out.joinpath(
            "blobs/sha256", onto.manifest_of(out)["layers"][-1]["digest"].removeprefix("sha256:")
        ).read_bytes()
    )
    assert world.run("image", "--base", str(base), "--out", str(out)) == 0
    (out / "more").write_text("")
    assert world.run("image", "--base", str(base), "--out", str(out)) == 1
    assert "holds something, and it is not this image" in capfd.readouterr().err
