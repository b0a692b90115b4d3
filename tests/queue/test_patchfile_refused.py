"""Own patches that are refused: what is unclear, damaged, or would leave the tree."""

import re
from pathlib import Path

import pytest

from lanewright.queue.patch.diff import PatchError
from lanewright.queue.patch.patchfile import read
from lanewright.store.safepath import UnsafePathError
from tests.upstream.diff import HEADER, diff, git, own_patch
from tests.upstream.patches import made, written
from tests.upstream.tree import BASE, CONFIG, PATCHED

HEAD = HEADER.format(base="release:1.0").encode() + b"\n"
IDS = b"index " + b"1" * 40 + b".." + b"2" * 40


DIFF = b"diff --git a/vllm/x b/vllm/x\n" + IDS + b" 100644\n--- a/vllm/x\n+++ b/vllm/x\n"
DIFF += b"@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize("name", ["Description", "Base", "Proof"])
@pytest.mark.parametrize("how", ["absent", "empty"])
def test_a_missing_header_field_is_named(tmp_path: Path, name: str, how: str) -> None:
    lines = HEAD.decode().splitlines(keepends=True)
    lines = [line for line in lines if not line.startswith(f"{name}:")]
    head = ("" if how == "absent" else f"{name}:  \n") + "".join(lines)
    with pytest.raises(PatchError, match=rf"hand\.patch: the header has no `{name}:` field"):
        read(written(tmp_path, head.encode() + DIFF))


@pytest.mark.parametrize("path", ["vllm/a\tb.py", "vllm/a\nb.py", "vllm/a\\b.py", "vllm/\udce9.py"])
def test_names_that_no_tree_may_hold_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePathError, match=r"^made\.patch: the path "):
        made(tmp_path, {path: b"a\n"}, {path: b"b\n"})


@pytest.mark.parametrize(
    "path", ["../evil", "/etc/x", "vllm/../../x", ".git/hooks/x", ".GIT/config", "vllm/x."]
)
def test_a_path_that_leaves_the_tree_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(UnsafePathError, match=r"hand\.patch"):
        read(written(tmp_path, HEAD + DIFF.replace(b"vllm/x", path.encode())))


def test_without_prefix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match="lacks the prefix 'b/'") as error:
        made(tmp_path, BASE, PATCHED, "--no-prefix")
    assert "git -c diff.noprefix=false" in (error.value.hint or "")


def test_abbreviated_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match=r"vllm/arguments\.py: the `index` line abbreviates"):
        made(tmp_path, BASE, PATCHED, "--no-full-index")


def test_a_rename_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match=r"renamed or copied: diff --git a/vllm/config\.py"):
        made(tmp_path, {"vllm/config.py": CONFIG}, {"vllm/other.py": CONFIG}, "--find-renames")


@pytest.mark.parametrize("flags", [["--binary"], []], ids=["whole", "named only"])
def test_binary_is_refused(tmp_path: Path, flags: list[str]) -> None:
    with pytest.raises(PatchError, match=r"vllm/x\.bin is binary"):
        made(tmp_path, {"vllm/x.bin": b"\0a"}, {"vllm/x.bin": b"\0b"}, *flags)


def test_a_combined_diff_is_refused(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    diff(scratch, {"x": b"base\n"}, {"x": b"base\n"})
    for branch in ("one", "two"):
        git(scratch, "checkout", "--quiet", "-b", branch, "master")
        (scratch / "x").write_text(branch)
        git(scratch, "commit", "--quiet", "--all", "-m", branch)
    tree = git(scratch, "rev-parse", "master^{tree}").decode().strip()
    merge = git(scratch, "commit-tree", tree, "-p", "one", "-p", "two", stdin=b"m").decode().strip()
    combined = git(scratch, "show", "--cc", "--format=", merge)
    assert b"diff --cc" in combined
    with pytest.raises(PatchError, match="a combined diff"):
        read(written(tmp_path, HEAD + combined))


@pytest.mark.parametrize("content", [b"", HEAD, b"\n\n", b"@@ -1 +1 @@\n-a\n+b\n"])
def test_a_patch_that_changes_nothing_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(PatchError, match=r"hand\.patch: changes nothing"):
        read(written(tmp_path, content))


def test_twice_the_same_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match="vllm/x has more than one section"):
        read(written(tmp_path, HEAD + DIFF + DIFF))


@pytest.mark.parametrize("kind", [b"120000", b"160000"], ids=["symlink", "submodule"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    link = DIFF.replace(b" 100644\n", b"\n").replace(b"--- a/vllm/x", b"--- /dev/null")
    link = link.replace(b"index " + b"1" * 40, b"new file mode " + kind + b"\nindex " + b"0" * 40)
    link = link.replace(b"@@ -1 +1 @@\n-a\n+b\n", b"@@ -0,0 +1 @@\n+/etc/passwd\n")
    with pytest.raises(PatchError, match=r"hand\.patch: vllm/x has the mode 1[26]0000"):
        read(written(tmp_path, HEAD + link))


BODY = b"@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"@@ -1,2 +1 @@\n-a\n+b\n", "hunk 1 says 2 old and 1 new lines but holds 1 and 1"),
        (b"@@ -1 +1,2 @@\n-a\n+b\n", "hunk 1 says 1 old and 2 new lines but holds 1 and 1"),
        (BODY + b"@@ -9,2 +9 @@\n-a\n+b\n", "hunk 2 says 2 old"),
        (BODY + b"-- \n2.39.5\n\n", "hunk 1 says 1 old and 1 new lines but holds 2"),
        (BODY + b"\n", "hunk 2 does not begin with a @@ line"),
        (b"@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "hunk 1 says 3 old"),  # an editor cut a lone blank
        (b"@@ -1 +1 @@\n a\n", "hunk 1 changes nothing"),
        (b"@@ -1,0 +1,0 @@\n", "hunk 1 changes nothing"),
        (b"@@ -a +1 @@\n-a\n+b\n", "hunk 1 does not begin with a @@ line"),
        (b"@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n", "hunk 1 begins with"),
    ],
)
def test_a_damaged_hunk_is_named(tmp_path: Path, body: bytes, message: str) -> None:
    with pytest.raises(PatchError, match=f"vllm/x: {message}"):
        read(written(tmp_path, HEAD + DIFF.replace(BODY, body)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a/vllm/x b/vllm/x", b"a/vllm/x b/vllm/other"),
        (b"+++ b/vllm/x", b'+++ "b/vllm/\\q"'),
        (b"+++ b/vllm/x", b'+++ "b/vllm/\\777"'),
        (b"+++ b/vllm/x", b"+++ b/vllm/other"),
        (b"--- a/vllm/x", b"--- a/vllm/other"),
        (IDS + b" 100644\n", b""),
        (b"\n", b"\r\n"),
    ],
)
def test_a_damaged_head_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    assert old in DIFF
    with pytest.raises((PatchError, UnsafePathError), match=r"hand\.patch"):
        read(written(tmp_path, HEAD + DIFF.replace(old, new)))


def test_a_patch_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PatchError, match="cannot read the patch"):
        read(tmp_path / "absent.patch")


def test_a_header_field_given_twice_is_refused(tmp_path: Path) -> None:
    content = own_patch(tmp_path / "made", BASE, PATCHED, base="release:1.0")
    patch = tmp_path / "x.patch"
    patch.write_bytes(b"Base: release:0.9\n" + content)
    with pytest.raises(PatchError, match="`Base:` twice"):
        read(patch)


def test_an_unknown_header_field_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    patch = written(tmp_path, HEAD.replace(b"Claims:", b"Claim:"))
    patch.write_bytes(patch.read_bytes() + diff(tmp_path / "made", BASE, PATCHED))
    with pytest.raises(PatchError, match=r"`Claim:`, which is none of .*Claims"):
        read(patch)


def test_a_patch_with_converted_line_ends_is_told_so(tmp_path: Path) -> None:
    content = own_patch(tmp_path / "made", BASE, PATCHED, base="release:1.0")
    patch = written(tmp_path, content.replace(b"\n", b"\r\n"))
    with pytest.raises(PatchError, match="end in CRLF"):
        read(patch)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"index " + b"[0-9a-f]{40}", b"index " + b"0" * 40 + b".." + b"0" * 40, "nothing changes"),
        (b"index ", b"old mode 100644\nnew mode 100755\nindex ", "`index` line disagree"),
    ],
)
def test_a_head_that_contradicts_itself(
    tmp_path: Path, old: bytes, new: bytes, message: str
) -> None:
    content = own_patch(tmp_path / "made", BASE, PATCHED, base="release:1.0")
    pattern = old + rb"\.\.[0-9a-f]{40}" if old.endswith(b"}") else old
    with pytest.raises(PatchError, match=message):
        read(written(tmp_path, re.sub(pattern, new, content, count=1)))


def test_a_byte_order_mark_is_told(tmp_path: Path) -> None:
    content = own_patch(tmp_path / "made", BASE, PATCHED, base="release:1.0")
    with pytest.raises(PatchError, match="byte order mark"):
        read(written(tmp_path, b"\xef\xbb\xbf" + content))
