"""``verify --image``: whatever is changed in a layout is found and named."""

import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.image.tar import Member, pack, unpack
from tests.conftest import World
from tests.image import tamper
from tests.image.conftest import ROOT

CONFIG = f"{ROOT}/vllm/config.py"
MIB = 1 << 20


def layer_file(layout: Path) -> Path:
    """The largest blob."""
    return max((layout / "blobs/sha256").iterdir(), key=lambda path: path.stat().st_size)


def change_a_byte(layout: Path) -> None:
    file = layer_file(layout)
    content = bytearray(file.read_bytes())
    content[5000] ^= 1
    file.write_bytes(content)


def truncate(layout: Path) -> None:
    file = layer_file(layout)
    file.write_bytes(file.read_bytes()[:-512])


def lengthen(layout: Path) -> None:
    with layer_file(layout).open("ab") as stream:
        stream.write(bytes(512))


def to_a_link(layout: Path) -> None:
    file = layer_file(layout)
    file.rename(layout.parent / "elsewhere")
    file.symlink_to(layout.parent / "elsewhere")


def to_a_folder(layout: Path) -> None:
    file = layer_file(layout)
    file.unlink()
    file.mkdir()


def manifests(layout: Path) -> list[dict[str, Any]]:
    top = tamper.load(layout / "index.json")
    found: list[dict[str, Any]] = tamper.load(tamper.blob(layout, top["manifests"][0]))["manifests"]
    return found


def remove_manifest(layout: Path) -> None:
    tamper.blob(layout, manifests(layout)[1]).unlink()


def remove_config(layout: Path) -> None:
    manifest = tamper.load(tamper.blob(layout, manifests(layout)[0]))
    tamper.blob(layout, manifest["config"]).unlink()


def exchange_contents(layout: Path) -> None:
    one, two = (tamper.blob(layout, each) for each in manifests(layout))
    first = one.read_bytes()
    one.write_bytes(two.read_bytes())
    two.write_bytes(first)


def exchange_platforms(index: Any) -> None:  # noqa: ANN401 - JSON
    one, two = index["manifests"]
    one["platform"], two["platform"] = two["platform"], one["platform"]


def drop_a_platform(index: Any) -> None:  # noqa: ANN401 - JSON
    index["manifests"].pop()


def top(edit: Callable[[Any], object]) -> Callable[[Path], None]:
    """Edit ``index.json``."""

    def change(layout: Path) -> None:
        document = tamper.load(layout / "index.json")
        edit(document)
        tamper.save(layout / "index.json", document)

    return change


def layer_twice(manifest: Any) -> None:  # noqa: ANN401 - JSON
    manifest["layers"] *= 2


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a byte of the layer": (change_a_byte, "(layer) is not what its name says"),
    "a layer cut short": (truncate, "bytes, not 10240"),
    "a layer made longer": (lengthen, "has 10752 bytes, not 10240"),
    "a layer missing": (lambda layout: layer_file(layout).unlink(), "(layer) is missing"),
    "a link in the layer's place": (to_a_link, "(layer) is missing, or no regular file"),
    "a folder in the layer's place": (to_a_folder, "(layer) is missing, or no regular file"),
    "a manifest missing": (remove_manifest, "(manifest of arm64) is missing"),
    "a configuration missing": (remove_config, "(configuration of amd64) is missing"),
    "manifests exchanged": (exchange_contents, "(manifest of amd64) is not what its name says"),
    "platforms exchanged": (
        lambda layout: tamper.edit_index(layout, exchange_platforms),
        "arm64: the configuration is that of amd64",
    ),
    "a platform dropped": (
        lambda layout: tamper.edit_index(layout, drop_a_platform),
        "is a stray file",
    ),
    "one more blob": (
        lambda layout: (layout / "blobs/sha256" / ("0" * 64)).write_bytes(b"x"),
        f"blobs/sha256/{'0' * 64} is a stray file",
    ),
    "one more file": (lambda layout: (layout / "x").write_bytes(b""), "x is a stray file"),
    "one more link": (lambda layout: (layout / "x").symlink_to("blobs"), "x is a stray file"),
    "no index": (lambda layout: (layout / "index.json").unlink(), "index.json is missing"),
    "no marker": (lambda layout: (layout / "oci-layout").unlink(), "oci-layout is missing"),
    "another marker": (
        lambda layout: (layout / "oci-layout").write_text('{"imageLayoutVersion":"2"}'),
        "oci-layout is not what the lock gives",
    ),
    "an index that is none": (
        lambda layout: (layout / "index.json").write_text("{"),
        "index.json cannot be read",
    ),
    "an index with blanks": (
        lambda layout: (layout / "index.json").write_bytes(
            (layout / "index.json").read_bytes() + b"\n"
        ),
        "index.json is not what the lock gives",
    ),
    "another name": (
        top(lambda index: index["manifests"][0].update(annotations={"x": "y"})),
        "index.json is not what the lock gives",
    ),
    "an unknown key": (top(lambda index: index.update(subject=1)), "index.json cannot be read"),
    "a digest that leads out": (
        top(lambda index: index["manifests"][0].update(digest="sha256:../../../x")),
        "index.json cannot be read",
    ),
    "a wrong size": (
        top(lambda index: index["manifests"][0].update(size=1)),
        "bytes, not 1",
    ),
    "a label": (
        lambda layout: tamper.edit_config(
            layout,
            1,
            lambda config: config["config"]["Labels"].update({"dev.lanewright.lane": "x"}),
        ),
        "arm64: among its labels, dev.lanewright.lane is 'x', not 'sample'",
    ),
    "an annotation": (
        lambda layout: tamper.edit_manifest(
            layout, 0, lambda manifest: manifest["annotations"].update(more="x")
        ),
        "amd64: among its annotations, more is 'x', not None",
    ),
    "a command to run": (
        lambda layout: tamper.edit_config(
            layout, 0, lambda config: config["config"].update(Cmd=["sh"])
        ),
        "(configuration of amd64) cannot be read: Object contains unknown field `Cmd`",
    ),
    "another time": (
        lambda layout: tamper.edit_config(
            layout, 0, lambda config: config.update(created="2026-01-01T00:00:00Z")
        ),
        "index.json is not what the lock gives",
    ),
    "the layer twice": (
        lambda layout: tamper.edit_manifest(layout, 0, layer_twice),
        "amd64: configuration and manifest name different layers",
    ),
    "no layer": (
        lambda layout: tamper.edit_manifest(layout, 0, lambda manifest: manifest.update(layers=[])),
        "amd64: its layer is none, not sha256:",
    ),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_change_ends_with_5_and_is_named(
    imaged: World, layout: Path, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    change, told = CHANGES[how]
    change(layout)
    capfd.readouterr()
    assert imaged.run("verify", "--image") == 5
    captured = capfd.readouterr()
    assert told in captured.err
    assert f"rm -r {layout} && lanewright image sample" in captured.err
    assert captured.out == ""
    assert imaged.run("verify") == 5
    assert imaged.run("image") == 5


def repack(layout: Path, edit: Callable[[list[Member]], list[Member]]) -> None:
    members = [member for _, member in unpack(layer_file(layout).read_bytes())]
    tamper.replace_layer(layout, pack(edit(members)))


def with_other_content(members: list[Member]) -> list[Member]:
    return [
        Member(each.path, each.kind, each.mode, b"x = 1\n") if each.path == CONFIG else each
        for each in members
    ]


FILE, FOLDER, LINK = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE
REPACKED: dict[str, tuple[Callable[[list[Member]], list[Member]], str]] = {
    "one more file": (
        lambda members: [*members, Member(f"{ROOT}/vllm/extra.py", FILE, 0o644, b"x")],
        "vllm/extra.py is there with the layer, and not in the tree",
    ),
    "a file less": (
        lambda members: [each for each in members if each.path != CONFIG],
        "vllm/config.py is another with the layer than in the tree",
    ),
    "a new file less": (
        lambda members: [each for each in members if not each.path.endswith("METADATA")],
        "sample_package-1.dist-info/METADATA is in the tree, and not there with the layer",
    ),
    "other content": (with_other_content, "vllm/config.py is another with the layer"),
    "another mode": (
        lambda members: [
            Member(each.path, each.kind, each.mode | 0o111, each.content) for each in members
        ],
        "vllm/config.py is another with the layer",
    ),
    "set-uid": (
        lambda members: [
            Member(each.path, each.kind, each.mode | 0o4000, each.content) for each in members
        ],
        "vllm/config.py is another with the layer",
    ),
    "a link instead": (
        lambda members: [
            *(each for each in members if each.path != CONFIG),
            Member(CONFIG, LINK, 0o777, b"empty.py"),
        ],
        "vllm/config.py is another with the layer",
    ),
    "one removal more": (
        lambda members: [Member(f"{ROOT}/vllm/.wh.empty.py", FILE, 0o644), *members],
        "vllm/empty.py is in the tree, and not there with the layer",
    ),
    "a removal of nothing": (
        lambda members: [Member(f"{ROOT}/vllm/.wh.x.py", FILE, 0o644), *members],
        "vllm/x.py is removed by the layer, and the pin has no such file",
    ),
    "all that lies in a folder hidden": (
        lambda members: [Member(f"{ROOT}/vllm/.wh..wh..opq", FILE, 0o644), *members],
        "is removed by the layer, and the pin has no such file",
    ),
    "a file that the pin has": (
        lambda members: [*members, Member(f"{ROOT}/vllm/empty.py", FILE, 0o644)],
        "vllm/empty.py is in the layer, and the pin has the same",
    ),
    "a folder of the pin": (
        lambda members: [Member(f"{ROOT}/vllm", FOLDER, 0o755), *members],
        "vllm/ is no new folder of the tree",
    ),
    "a folder less": (
        lambda members: [each for each in members if each.kind != FOLDER],
        "sample_package/ is missing in the layer",
    ),
    "a file twice": (
        lambda members: [*members, *(each for each in members if each.path == CONFIG)],
        f"{CONFIG} is in the layer twice",
    ),
    "a file elsewhere": (
        lambda members: [*members, Member("etc/passwd", FILE, 0o644, b"x")],
        f"etc/passwd is in the layer, outside {ROOT}/",
    ),
    "a path that leads out": (
        lambda members: [*members, Member(f"{ROOT}/../x", FILE, 0o644, b"x")],
        "../x is there with the layer, and not in the tree",
    ),
    "nothing": (lambda _: [], "vllm/config.py is another with the layer"),
}


@pytest.mark.parametrize("how", REPACKED)
def test_another_layer_whose_digests_all_fit_is_named_by_file(
    imaged: World, layout: Path, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    edit, told = REPACKED[how]
    repack(layout, edit)
    assert imaged.run("verify", "--image") == 5
    err = capfd.readouterr().err
    assert told in err
    assert "amd64: its layer is sha256:" in err
    assert "is not what its name says" not in err
    assert "stray" not in err


def test_bytes_behind_the_archives_end_are_found(
    imaged: World, layout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tamper.replace_layer(layout, layer_file(layout).read_bytes()[:-5] + b"extra")
    assert imaged.run("verify", "--image") == 5
    assert "the layer is not packed as its members would be" in capfd.readouterr().err


def test_an_owner_is_found(imaged: World, layout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content = bytearray(layer_file(layout).read_bytes())
    content[108:116] = b"0001750\0"
    head = bytes(content[:148]) + b" " * 8 + bytes(content[156:512])
    content[148:156] = f"{sum(head):06o}\0 ".encode()
    tamper.replace_layer(layout, bytes(content))
    assert imaged.run("verify", "--image") == 5
    assert "has another owner, group or time" in capfd.readouterr().err


def test_what_is_no_archive_is_found(
    imaged: World, layout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tamper.replace_layer(layout, b"x" * MIB)
    assert imaged.run("verify", "--image") == 5
    assert "the layer is no archive" in capfd.readouterr().err


def test_removed_and_made_again_it_is_right(imaged: World, layout: Path) -> None:
    change_a_byte(layout)
    shutil.rmtree(layout)
    assert imaged.run("image") == 0
    assert imaged.run("verify", "--image") == 0


def test_all_that_is_wrong_is_named(
    imaged: World, layout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    remove_manifest(layout)
    change_a_byte(layout)
    (layout / "x").write_text("")
    assert imaged.run("verify", "--image") == 5
    err = capfd.readouterr().err
    # The configuration behind the missing manifest is a stray now; and what to do is said.
    assert err.count("\n  ") == 5
    assert "manifest of arm64" in err
    assert "x is a stray file" in err
