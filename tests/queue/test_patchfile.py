"""Reading own patches: what git makes is read to the byte, what is unclear is refused."""

from pathlib import Path

import pytest

from lanewright.queue.merge.subset import apply, split_lines
from lanewright.queue.patch.diff import FilePatch
from lanewright.queue.patch.patchfile import read
from lanewright.store.safepath import UnsafePathError
from tests.upstream.diff import HEADER, diff, git, own_patch
from tests.upstream.patches import made, written

ABSENT = "0" * 40
EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
HEAD = HEADER.format(base="release:1.0").encode() + b"\n"
IDS = b"index " + b"1" * 40 + b".." + b"2" * 40


def whole(file: FilePatch, before: bytes) -> bytes:
    return apply(split_lines(before), file, file.hunks, source="a patch", base_name="its base")


LINES = b"".join(b"line %d\n" % number for number in range(30))
CHANGES = {
    "edit": (LINES, LINES.replace(b"line 3\n", b"LINE\n")),
    "several hunks": (LINES, LINES.replace(b"line 3\n", b"").replace(b"line 20\n", b"a\nb\n")),
    "first line": (LINES, b"new\n" + LINES),
    "last line": (LINES, LINES + b"new\n"),
    "all lines": (LINES, b"only\n"),
    "CRLF": (
        LINES.replace(b"\n", b"\r\n"),
        LINES.replace(b"line 3\n", b"x\n").replace(b"\n", b"\r\n"),
    ),
    "only the line ends": (LINES, LINES.replace(b"\n", b"\r\n")),
    "mixed line ends": (b"a\r\nb\nc\r\n", b"a\r\nb\r\nc\n"),
    "lone carriage returns": (b"a\rb\nc\n", b"a\rB\nc\n"),
    "Latin-1": (b"caf\xe9\nx\n", b"caf\xe8\nx\n"),
    "form feed": (b"a\x0cb\x1c\xc2\x85\nx\n", b"a\x0cb\x1c\xc2\x85\ny\n"),
    "lines like a patch": (b"-- x\n++ y\n", b"-- X\n++ Y\n@@ -1 +1 @@\ndiff --git a/x b/x\n"),
    "newline at end removed": (b"a\nb\n", b"a\nb"),
    "newline at end added": (b"a\nb", b"a\nb\n"),
    "no newline on both sides": (b"a\nb", b"a\nc"),
    "no newline, in the context": (LINES + b"end", b"new\n" + LINES + b"end"),
    "no newline, edited just before": (b"a\nb\nend", b"a\nB\nend"),
    "no newline, lines added after": (b"a\nend", b"a\nend\nmore\nmore"),
    "only a newline added": (b"", b"\n"),
    "created": (None, LINES),
    "created without newline": (None, b"x"),
    "removed": (LINES, None),
    "removed without newline": (b"a\nx", None),
    "emptied": (LINES, b""),
    "filled": (b"", LINES),
}


@pytest.mark.parametrize("context", ["-U3", "-U0"])
@pytest.mark.parametrize("name", CHANGES)
def test_all_hunks_give_the_target_to_the_byte(tmp_path: Path, name: str, context: str) -> None:
    before, after = CHANGES[name]
    patch = made(
        tmp_path,
        {} if before is None else {"vllm/x.py": before},
        {} if after is None else {"vllm/x.py": after},
        context,
        "--text",
    )
    [file] = patch.files
    assert file.path == "vllm/x.py"
    assert whole(file, before or b"") == (after or b"")


def test_header_fields_fold_and_are_kept(tmp_path: Path) -> None:
    patch = read(written(tmp_path, HEAD.replace(b"hook\n", b"hook\n of two: lines\n") + DIFF))
    assert patch.fields["Description"] == "a sample hook\nof two: lines"
    assert patch.fields["Base"] == "release:1.0"


DIFF = b"diff --git a/vllm/x b/vllm/x\n" + IDS + b" 100644\n--- a/vllm/x\n+++ b/vllm/x\n"
DIFF += b"@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("vllm/a b.py", False),
        ("vllm/a  b /c.py", None),
        ('vllm/"q".py', True),
        ("vllm/模型.py", True),
        ("a/b/a.py", False),
        ("b/x.py", False),
        ("-x.py", False),
    ],
)
@pytest.mark.parametrize("change", ["edit", "created", "removed"])
def test_names(tmp_path: Path, path: str, quoted: bool | None, change: str) -> None:  # noqa: FBT001
    before, after = CHANGES[change]
    make = (
        {} if before is None else {path: before},
        {} if after is None else {path: after},
    )
    if quoted is None:
        with pytest.raises(UnsafePathError, match="trailing dot or space"):
            made(tmp_path, *make)
        return
    patch = made(tmp_path, *make)
    assert (b'"a/' in patch.path.read_bytes()) is quoted
    assert [file.path for file in patch.files] == [path]


def test_creation_removal_and_modes_are_told_from_the_raw_status(tmp_path: Path) -> None:
    before = {"gone": b"", "vllm/gone.py": LINES, "emptied": LINES}
    after = {"made": b"", "vllm/made.py": LINES, "emptied": b""}
    found = {file.path: file for file in made(tmp_path, before, after).files}
    assert (found["made"].pre, found["made"].post) == (ABSENT, EMPTY)
    assert (found["gone"].pre, found["gone"].post) == (EMPTY, ABSENT)
    assert (found["made"].old_mode, found["made"].new_mode) == (None, "100644")
    assert (found["vllm/gone.py"].old_mode, found["vllm/gone.py"].new_mode) == ("100644", None)
    assert found["emptied"].post == EMPTY
    assert found["emptied"].new_mode == "100644"


@pytest.mark.parametrize("content", [b"same\n", b"edited\n"], ids=["alone", "with an edit"])
def test_mode_change(tmp_path: Path, content: bytes) -> None:
    scratch = tmp_path / "scratch"
    diff(scratch, {"run.sh": b"same\n"}, {"run.sh": content})
    git(scratch, "update-index", "--chmod=+x", "run.sh")
    changed = git(scratch, "diff", "--cached", "--full-index")
    [file] = read(written(tmp_path, HEAD + changed)).files
    assert (file.old_mode, file.new_mode) == ("100644", "100755")
    assert whole(file, b"same\n") == content


@pytest.mark.parametrize("cut", [1, 2])
def test_a_patch_without_its_last_newline(tmp_path: Path, cut: int) -> None:
    content = own_patch(tmp_path / "scratch", {"x": LINES}, {"x": LINES + b"new\n"}, base="x")
    file = written(tmp_path, content[:-cut])
    [read_back] = read(file).files
    expected = LINES + (b"new\n" if cut == 1 else b"ne\n")
    assert whole(read_back, LINES) == expected  # a cut line is caught by the post-image's id
