"""``[image]`` in a series: what may be written, and what it moves."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from lanewright.errors import DriftError, LanewrightError, MismatchError
from lanewright.queue.build import build
from lanewright.queue.lock import Lock, encode, layer_of, read_lock, sealed
from lanewright.queue.plan import plan
from lanewright.queue.series import load_series
from lanewright.queue.verify import verify
from tests.conftest import World

PATH = "/usr/lib/python3/dist-packages"
# Of the sample lane, as it was before a series could say anything of an image.
INPUTS = "f807e008e703255ed33baf7b1b4850b21521484a0af9b60f5ac53c7f3cf7044f"


def set_table(world: World, table: str) -> None:
    world.edit("series/sample.toml", "# the hook", f"{table}\n\n# the hook")


def built(world: World) -> Lock:
    return build(world.project, world.places, "sample").lock


def test_the_path_is_read(world: World) -> None:
    assert load_series(world.project, "sample").image is None
    set_table(world, f'[image]\nsite_packages = "{PATH}"')
    image = load_series(world.project, "sample").image
    assert image
    assert image.site_packages == PATH


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "site_packages: it is missing"),
        ("usr/lib", "is no absolute path"),
        ("~/lib", "is no absolute path"),
        ("/", "is empty or absolute"),
        ("//usr/lib", "is empty or absolute"),
        ("/usr/../lib", "has the part '..'"),
        ("/usr/./lib", "has the part '.'"),
        ("/usr//lib", "has the part ''"),
        ("/usr/lib/", "has the part ''"),
        ("/usr/lib/..", "has the part '..'"),
        ("/usr\\\\lib", "holds a backslash, a control character"),
        ("/usr/\\u0007lib", "a control character"),
        ("/usr/\\u0000lib", "a control character"),
        ("/usr/.wh.local/lib", "begins with .wh.: a removal, in a layer"),
        ("/usr/lib ", "with a trailing dot or space"),
    ],
)
def test_a_bad_path_is_told_with_file_and_key(world: World, path: str, told: str) -> None:
    set_table(world, f'[image]\nsite_packages = "{path}"')
    with pytest.raises(LanewrightError) as error:
        load_series(world.project, "sample")
    assert told in str(error.value)
    assert "series/sample.toml: [image] site_packages" in str(error.value)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("[image]", r"\[image\] site_packages: it is missing"),
        (
            f'[image]\nkind = "source"\nsite_packages = "{PATH}"',
            "a lane built from source has none",
        ),
        (
            f'[image]\nsite_packages = "{PATH}"\narch_list = "10.3a"',
            "`arch_list` is for a lane with",
        ),
        ('[image]\nkind = "layer"', r"Invalid enum value 'layer' - at `\$\.image\.kind`"),
        (
            "[image]\nsite_packages = 1",
            r"Expected `str`, got `int` - at `\$\.image\.site_packages`",
        ),
        (
            f'[image]\nsite_packages = "{PATH}"\nbased = "x"',
            r"unknown field `based` - at `\$\.image`",
        ),
        (f'[image]\nsite_packages = "{PATH}"\nbase = "x"', "`base` and `digest` belong together"),
        (
            f'[image]\nsite_packages = "{PATH}"\nbase = "x"\ndigest = "sha256:1"',
            r"at `\$\.image\.digest`",
        ),
        ("[[image]]", r"Expected `object \| null`, got `array` - at `\$\.image`"),
    ],
)
def test_a_bad_table_is_told_with_file_and_key(world: World, table: str, told: str) -> None:
    set_table(world, table)
    with pytest.raises(LanewrightError, match=told) as error:
        load_series(world.project, "sample")
    assert "series/sample.toml" in str(error.value)


def test_a_lane_without_it_has_the_inputs_and_the_lock_it_always_had(world: World) -> None:
    lock = built(world)
    assert b'"layer"' not in world.lock.read_bytes()
    assert not lock.layer
    assert plan(world.project, "sample").digest == lock.inputs == INPUTS


def test_a_lane_built_from_source_has_no_layer_and_says_what_it_is_compiled_for(
    world: World,
) -> None:
    before = built(world)
    set_table(world, '[image]\nkind = "source"')
    lock = built(world)
    assert not lock.layer
    assert lock.tree == before.tree
    assert lock.inputs != before.inputs
    world.edit("series/sample.toml", '"source"', '"source"\narch_list = "10.3a"')
    assert plan(world.project, "sample").digest == lock.inputs


def test_the_layer_is_locked_and_moves_no_tree(world: World) -> None:
    before = built(world)
    set_table(world, f'[image]\nsite_packages = "{PATH}"')
    lock = built(world)
    assert (lock.tree, lock.entries) == (before.tree, before.entries)
    assert lock.inputs != before.inputs
    assert layer_of(lock).site_packages == PATH
    assert layer_of(lock).size == 10240
    assert read_lock(world.lock) == lock


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("", f'[image]\nsite_packages = "{PATH}"', f"site_packages none -> {PATH}"),
        (f'[image]\nsite_packages = "{PATH}"', "", f"site_packages {PATH} -> none"),
        (
            f'[image]\nsite_packages = "{PATH}"',
            '[image]\nsite_packages = "/opt/lib"',
            f"site_packages {PATH} -> /opt/lib",
        ),
    ],
    ids=["added", "dropped", "edited"],
)
def test_an_edit_of_it_is_drift(world: World, first: str, second: str, told: str) -> None:
    plain = (world.root / "series/sample.toml").read_text()
    set_table(world, first)
    before = built(world)
    (world.root / "series/sample.toml").write_text(plain)
    set_table(world, second)
    with pytest.raises(DriftError) as error:
        build(world.project, world.places, "sample", check=True)
    assert str(error.value).endswith(f"the lock is out of date: [image] {told}")
    after = built(world)
    assert after.layer != before.layer
    assert after.tree == before.tree


ARM, AMD = 'architecture = "arm64"\n', 'architecture = "amd64"\n'
BASED = 'base = "docker.io/a/b:1"\ndigest = "sha256:%064d"\n'


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("", ARM, ["architecture none -> arm64"]),
        (ARM, AMD, ["architecture arm64 -> amd64"]),
        (ARM, "", ["architecture arm64 -> none"]),
        (BASED % 1, (BASED % 1).replace(":1", ":2"), ["base docker.io/a/b:1 -> docker.io/a/b:2"]),
        (BASED % 1, f'{BASED % 1}index = "sha256:{5:064}"\n', [f"index none -> sha256:{5:064}"]),
        (
            BASED % 1 + ARM,
            BASED % 2 + AMD,
            [f"base sha256:{1:064} -> sha256:{2:064}", "architecture arm64 -> amd64"],
        ),
    ],
)
def test_what_is_edited_beside_the_path_is_told(
    world: World, first: str, second: str, told: list[str]
) -> None:
    table = f'[image]\nsite_packages = "{PATH}"\n'
    set_table(world, table + first)
    built(world)
    world.edit("series/sample.toml", table + first, table + second)
    with pytest.raises(DriftError) as error:
        build(world.project, world.places, "sample", check=True)
    lines = "; ".join(f"[image] {each}" for each in told)
    assert str(error.value).endswith(f"the lock is out of date: {lines}")


def test_an_edit_of_a_choice_is_not_told_as_one_of_the_image(world: World) -> None:
    set_table(world, f'[image]\nsite_packages = "{PATH}"\n{ARM}')
    built(world)
    chosen = 'own/hook.patch"\nselect = ["vllm/config.py"]'
    world.edit("series/sample.toml", 'own/hook.patch"', chosen)
    with pytest.raises(DriftError, match="out of date: order or selection changed"):
        build(world.project, world.places, "sample", check=True)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"digest": f"sha256:{'0' * 64}"}, "layer.digest"),
        ({"size": 1}, "layer.size"),
        ({"site_packages": "/opt"}, "layer.site_packages"),
        (None, "layer"),
    ],
)
def test_verify_finds_a_lock_that_names_another_layer(
    world: World, change: dict[str, Any] | None, place: str
) -> None:
    set_table(world, f'[image]\nsite_packages = "{PATH}"')
    lock = built(world)
    layer = UNSET if change is None else msgspec.structs.replace(layer_of(lock), **change)
    world.lock.write_bytes(encode(sealed(msgspec.structs.replace(lock, layer=layer))))
    with pytest.raises(MismatchError, match=f"the lock says {place} = "):
        verify(world.project, world.places, "sample", lock=True, tree=False, image=False)


@pytest.mark.parametrize(
    "digest", ["", "sha256:", f"sha1:{'0' * 64}", f"sha256:{'0' * 64}\\n", f"sha256:{'G' * 64}"]
)
def test_what_is_no_digest_is_damage(world: World, digest: str) -> None:
    set_table(world, f'[image]\nsite_packages = "{PATH}"')
    locked = layer_of(built(world)).digest
    text = world.lock.read_text()
    world.lock.write_text(text.replace(locked, digest))
    with pytest.raises(LanewrightError, match=r"sample\.lock is damaged: .*\$\.layer\.digest"):
        read_lock(world.lock)
