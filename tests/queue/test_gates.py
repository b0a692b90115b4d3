"""What a clean merge must still pass."""

import pytest

from lanewright.queue.merge.gates import GateError, check_file

CLEAN = [
    ("vllm/x.py", b""),
    ("vllm/x.py", b"\xef\xbb\xbfx = 1\n"),
    ("vllm/x.py", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"),
    ("vllm/x.py", b"x = 1\r\ny = 2\r\n"),
    ("vllm/x.py", b"import re\nP = re.compile('\\d')\n"),  # an odd escape is upstream's affair
    ("vllm/x.py", b"x = 1 is 1\n"),
    ("vllm/x.py", b"async def f():\n    await g()\n"),
    ("vllm/x.md", b"Title\n=======\n"),
    ("vllm/x.txt", b"def broken(:\n\xff"),
    ("vllm/x.bin", b"\0<<<<<<<\0"),
    ("vllm/x.md", b"<<<<<<<\nno marker without a name\n"),
]


@pytest.mark.parametrize(("path", "content"), CLEAN)
def test_passes_without_a_word(
    path: str, content: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    check_file(path, content, [])
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"x = 1\ndef broken(:\n", 2),
        (b"def f():\nreturn 1\n", 2),
        (b"return 1\n", 1),
        (b"f(a=1, a=2)\n", 1),
        (b"def f(a, a): pass\n", 1),
        (b"def f():\n\tif x:\n        pass\n", 3),
        (b"x = 1\0\n", r"\?"),
        (b"x = '\xe9'\n", r"\d"),
        (b"from __future__ import annotationz\n", 1),
        (b"await f()\n", 1),
        (b"(" * 3000 + b")" * 3000, r"."),
    ],
)
def test_python_that_does_not_compile_is_named(content: bytes, line: int | str) -> None:
    with pytest.raises(GateError, match=rf"vllm/x\.py, line {line}: does not compile"):
        check_file("vllm/x.py", content, [])


CONFLICTED = b"a\n<<<<<<< ours\nb\n||||||| base\nc\n=======\nd\n>>>>>>> theirs\n"


@pytest.mark.parametrize("path", ["vllm/x.py", "vllm/x.cu", "README.md"])
def test_a_conflict_marker_is_found_in_any_file(path: str) -> None:
    with pytest.raises(GateError, match=rf"{path}, line 2: a conflict marker"):
        check_file(path, CONFLICTED, [b"a\n"])


def test_a_marker_that_a_side_had_already_is_no_finding() -> None:
    check_file("docs/merging.md", CONFLICTED + b"more\n", [CONFLICTED, b""])
    with pytest.raises(GateError, match="a conflict marker"):
        check_file("docs/merging.md", CONFLICTED * 2, [CONFLICTED, CONFLICTED])


ONE = b"class C:\n    x: int = 0\n\n    def f(self):\n        pass\n"


@pytest.mark.parametrize(
    ("added", "name"),
    [
        (b"\n    def f(self):\n        return 1\n", r"C\.f"),
        (b"    x: int = 1\n", r"C\.x"),
        (b"\nclass C:\n    pass\n", "C"),
        (b"\n    async def f(self):\n        pass\n", r"C\.f"),
    ],
)
def test_a_definition_that_the_merge_doubled_is_named(added: bytes, name: str) -> None:
    with pytest.raises(GateError, match=rf"vllm/x\.py: the merge defines {name} 2 times"):
        check_file("vllm/x.py", ONE + added, [ONE, ONE, ONE])


@pytest.mark.parametrize(
    "content",
    [
        b"class C:\n    @property\n    def f(self): ...\n    @f.setter\n    def f(self, v): ...\n",
        b"@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...\n",
        b"if x:\n    def f(): ...\nelse:\n    def f(): ...\n",
        b"try:\n    import a\nexcept ImportError:\n    def f(): ...\nelse:\n    def f(): ...\n",
        b"class C:\n    def f(self): ...\nclass D:\n    def f(self): ...\n",
        b"def a():\n    def f(): ...\ndef b():\n    def f(): ...\n",
    ],
)
def test_a_name_used_twice_on_purpose_passes(content: bytes) -> None:
    check_file("vllm/x.py", content, [b""])


def test_a_double_that_a_side_has_passes_and_a_third_does_not() -> None:
    twice = b"def f(): ...\n" * 2
    check_file("vllm/x.py", twice + b"x = 1\n", [twice, b"def f(): ...\n"])
    with pytest.raises(GateError, match="defines f 3 times"):
        check_file("vllm/x.py", b"def f(): ...\n" * 3, [twice, twice])


def test_a_side_that_does_not_parse_hides_no_double() -> None:
    with pytest.raises(GateError, match="defines f 2 times"):
        check_file("vllm/x.py", b"def f(): ...\n" * 2, [b"def broken(:", b"def f(): ...\n"])
