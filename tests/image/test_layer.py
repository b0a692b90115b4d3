"""From two trees to the members of a layer."""

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.image.layer import LayerError, layer_content
from lanewright.image.oci import digest_of
from lanewright.image.tar import Member, unpack
from lanewright.store.git import Repository
from tests.image.conftest import ROOT, MakeTree

FILE, FOLDER, LINK = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE
BEFORE: dict[str, bytes | tuple[str, bytes]] = {
    "vllm/a.py": b"a = 1\n",
    "vllm/sub/b.py": b"b = 1\n",
    "vllm/sub/c.py": b"c = 1\n",
    "vllm/tool.sh": b"#!/bin/sh\n",
    "vllm/latin-\udce9.txt": b"",
}
Files = Mapping[str, bytes | tuple[str, bytes]]


MakeLayer = Callable[..., bytes]


@pytest.fixture(scope="session")
def layer(repository: Repository, tree: MakeTree) -> MakeLayer:
    """The layer between two sets of files."""

    def content(before: Files, after: Files, root: str = f"/{ROOT}") -> bytes:
        return layer_content(repository, tree(before), tree(after), root)

    return content


def members(content: bytes) -> list[Member]:
    return [member for _, member in unpack(content)]


def member(path: str, kind: bytes, mode: int, content: bytes = b"") -> Member:
    return Member(f"{ROOT}/{path}", kind, mode, content)


def without(*paths: str) -> dict[str, bytes | tuple[str, bytes]]:
    return {path: content for path, content in BEFORE.items() if path not in paths}


CASES: dict[str, tuple[Files, list[Member]]] = {
    "nothing": (BEFORE, []),
    "changed": (
        {**BEFORE, "vllm/a.py": b"a = 2\n"},
        [member("vllm/a.py", FILE, 0o644, b"a = 2\n")],
    ),
    "added": (
        {**BEFORE, "vllm/sub/new.py": b""},
        [member("vllm/sub/new.py", FILE, 0o644)],
    ),
    "new folders, each once and before what is in it": (
        {**BEFORE, "ours/x/one.py": b"1\n", "ours/x/two.py": b"2\n", "ours-1.info/META": b""},
        [
            member("ours", FOLDER, 0o755),
            member("ours-1.info", FOLDER, 0o755),
            member("ours-1.info/META", FILE, 0o644),
            member("ours/x", FOLDER, 0o755),
            member("ours/x/one.py", FILE, 0o644, b"1\n"),
            member("ours/x/two.py", FILE, 0o644, b"2\n"),
        ],
    ),
    "a file beside the packages": ({**BEFORE, "top.py": b""}, [member("top.py", FILE, 0o644)]),
    "removed": (without("vllm/a.py"), [member("vllm/.wh.a.py", FILE, 0o644)]),
    "removed, in no UTF-8": (
        without("vllm/latin-\udce9.txt"),
        [member("vllm/.wh.latin-\udce9.txt", FILE, 0o644)],
    ),
    "a whole folder removed, file by file, for the base has others there": (
        without("vllm/sub/b.py", "vllm/sub/c.py"),
        [member("vllm/sub/.wh.b.py", FILE, 0o644), member("vllm/sub/.wh.c.py", FILE, 0o644)],
    ),
    "whiteouts before all else": (
        {**without("vllm/sub/c.py"), "a.py": b""},
        [member("vllm/sub/.wh.c.py", FILE, 0o644), member("a.py", FILE, 0o644)],
    ),
    "a mode alone": (
        {**BEFORE, "vllm/tool.sh": ("100755", b"#!/bin/sh\n")},
        [member("vllm/tool.sh", FILE, 0o755, b"#!/bin/sh\n")],
    ),
    "a symlink": (
        {**BEFORE, "vllm/link": ("120000", b"../caf\xe9")},
        [member("vllm/link", LINK, 0o777, b"../caf\xe9")],
    ),
    "a file becomes a symlink": (
        {**BEFORE, "vllm/a.py": ("120000", b"tool.sh")},
        [member("vllm/a.py", LINK, 0o777, b"tool.sh")],
    ),
    "a file becomes a folder": (
        {**without("vllm/a.py"), "vllm/a.py/x.py": b""},
        [member("vllm/a.py", FOLDER, 0o755), member("vllm/a.py/x.py", FILE, 0o644)],
    ),
    "a folder becomes a file": (
        {**without("vllm/sub/b.py", "vllm/sub/c.py"), "vllm/sub": b"x"},
        [member("vllm/sub", FILE, 0o644, b"x")],
    ),
    "a folder becomes a symlink": (
        {**without("vllm/sub/b.py", "vllm/sub/c.py"), "vllm/sub": ("120000", b"other")},
        [member("vllm/sub", LINK, 0o777, b"other")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_members(layer: MakeLayer, case: str) -> None:
    after, expected = CASES[case]
    assert members(layer(BEFORE, after)) == expected


def test_the_digest_of_a_tree_is_the_same_everywhere(layer: MakeLayer) -> None:
    after = {
        **without("vllm/sub/c.py"),
        "vllm/a.py": b"a = 2\n",
        "ours/ünï.py": b"",
        f"ours/{'long' * 60}.py": b"long\n",
        "vllm/tool.sh": ("100755", b"#!/bin/sh\n"),
        "vllm/link": ("120000", b"a.py"),
    }
    expected = "sha256:9bbf1190ab086bc7662a252dd088adb47aaa47454aef674cc82a64c23e772c2f"
    assert digest_of(layer(BEFORE, after)) == expected


def test_the_files_order_does_not_count(layer: MakeLayer) -> None:
    after, _ = CASES["new folders, each once and before what is in it"]
    backwards = dict(reversed(list(after.items())))
    assert layer(BEFORE, after) == layer(BEFORE, backwards)


def test_where_the_image_has_its_packages_counts(layer: MakeLayer) -> None:
    after, _ = CASES["changed"]
    (found,) = members(layer(BEFORE, after, "/opt/a b/lib"))
    assert found.path == "opt/a b/lib/vllm/a.py"


@pytest.mark.parametrize(
    "path",
    [
        "csrc/x.py",
        "csrc/moe/ops.cu",
        "cmake/utils.txt",
        "CMakeLists.txt",
        "setup.py",
        "vllm/k.cu",
        "vllm/k.cuh",
        "vllm/k.cpp",
        "vllm/k.h",
        "vllm/_C.abi3.so",
    ],
)
def test_what_needs_compiling_is_refused(layer: MakeLayer, path: str) -> None:
    for before, after in [
        ({}, {path: b"x"}),
        ({path: b"x"}, {path: b"y"}),
        ({path: b"x"}, {"a.py": b""}),
    ]:
        with pytest.raises(LayerError, match=f"{path} needs compiling") as error:
            layer({**BEFORE, **before}, {**BEFORE, **after})
        assert error.value.path == path


def test_what_the_pin_has_compiled_is_no_hindrance(layer: MakeLayer) -> None:
    before = {**BEFORE, "csrc/ops.cu": b"x", "setup.py": b"x"}
    after = {**before, "vllm/a.py": b"a = 2\n"}
    assert [each.path for each in members(layer(before, after))] == [f"{ROOT}/vllm/a.py"]


@pytest.mark.parametrize("path", ["vllm/csrc.py", "vllm/setup.pyi", "vllm/a.cu.py", "vllm/hash"])
def test_what_only_looks_compiled_is_taken(layer: MakeLayer, path: str) -> None:
    assert members(layer(BEFORE, {**BEFORE, path: b""})) == [member(path, FILE, 0o644)]


@pytest.mark.parametrize("path", ["vllm/.wh.a.py", ".wh.x", "vllm/.wh.d/x.py", "v/.wh..wh..opq"])
def test_a_name_that_means_a_removal_is_refused(layer: MakeLayer, path: str) -> None:
    for before, after in [(BEFORE, {**BEFORE, path: b""}), ({**BEFORE, path: b""}, BEFORE)]:
        with pytest.raises(LayerError, match=r"has a part that begins with \.wh\."):
            layer(before, after)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def unpack_as_a_runtime_does(content: bytes, folder: Path) -> None:
    """Unpack over what is there by the rules of OCI's layer format."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for each in archive:
            unpack_one(archive, each, folder / each.name)


def unpack_one(archive: tarfile.TarFile, each: tarfile.TarInfo, target: Path) -> None:
    if target.name.startswith(".wh."):
        gone = target.with_name(target.name.removeprefix(".wh."))
        assert os.path.lexists(gone)
        remove(gone)
        return
    if not (each.isdir() and target.is_dir() and not target.is_symlink()):
        remove(target)
    assert target.parent.is_dir()
    assert not target.parent.is_symlink()
    if each.isdir():
        target.mkdir()
        target.chmod(each.mode)
    elif each.issym():
        target.symlink_to(each.linkname)
    else:
        stream = archive.extractfile(each)
        assert stream
        target.write_bytes(stream.read())
        target.chmod(each.mode)


def on_disk(folder: Path) -> dict[str, tuple[str, bytes]]:
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("120000", os.fsencode(path.readlink()))
        elif not path.is_dir():
            found[name] = (f"100{path.stat().st_mode & 0o777:o}", path.read_bytes())
    return found


def lay(files: Mapping[str, tuple[str, bytes]], folder: Path) -> None:
    for path, (mode, content) in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if mode == "120000":
            (folder / path).symlink_to(os.fsdecode(content))
        else:
            (folder / path).write_bytes(content)
            (folder / path).chmod(int(mode[-3:], 8))


NAME = st.sampled_from(["a", "b", "-", "ab", "é"])
PATHS = st.lists(NAME, min_size=1, max_size=3).map("/".join)
CONTENT = st.tuples(st.sampled_from(["100644", "100755", "120000"]), st.sampled_from([b"x", b"y"]))
TREES = st.dictionaries(PATHS, CONTENT, max_size=8).map(
    lambda files: {
        path: content
        for path, content in files.items()
        if not any(path.startswith(f"{other}/") for other in files)
    }
)


@settings(deadline=None, max_examples=40)
@given(before=TREES, after=TREES)
def test_unpacked_over_the_one_tree_it_gives_the_other(
    layer: MakeLayer, before: dict[str, tuple[str, bytes]], after: dict[str, tuple[str, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / ROOT
        root.mkdir(parents=True)
        lay(before, root)
        unpack_as_a_runtime_does(layer(before, after), Path(folder))
        assert on_disk(root) == after
