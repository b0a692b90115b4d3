"""The compiled ops that a change binds, where vLLM binds them: ``csrc/**/torch_bindings.cpp``."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs

Both = tuple[File | None, File | None]
DEFINED = re.compile(rb"""\.def\(\s*"(\w+)""")
IMPLEMENTED = re.compile(rb"""\.(?:def|impl)\(\s*"(\w+)[^;]{0,4000}?&\s*(?:\w+::)*(\w+)""")
COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
HEADERS = (".h", ".hpp", ".cuh")
SOURCES = (".cu", ".cpp", ".cc", ".c")
CMAKE = ("CMakeLists.txt", ".cmake")
# What a path may be to stand on a line of an extract's message.
PLAIN = re.compile(r"[!-~]+")
SUBMODULE = "160000"
NOTED = re.compile(r"^op (\w+)$", re.MULTILINE)
NOTED_PIECE = re.compile(r"^(binds|declares|defines|builds) (\w+) ([!-~]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Op:
    """A compiled op.

    Attributes:
        name: It.
        pieces: What it is made of, each as what a file does (``binds``, ``declares`` or
            ``defines`` the op, or ``builds`` what defines it) and the file.
    """

    name: str
    pieces: tuple[tuple[str, str], ...] = ()


def is_binding(path: str) -> bool:
    """Whether a file binds ops."""
    return path.startswith("csrc/") and path.endswith("/torch_bindings.cpp")


def pieces_among(changed: Mapping[str, Both]) -> dict[str, Both]:
    """Of changed files those that ops can be made of; none where no binding changes."""
    if not any(map(is_binding, changed)):
        return {}
    return {path: sides for path, sides in changed.items() if _is_piece(path, sides)}


def bound_ops(repository: Repository, changed: Mapping[str, Both]) -> tuple[Op, ...]:
    """The ops that these files bind after a change, and none of them before.

    Args:
        repository: The store, with their contents.
        changed: Each file on both sides.
    """
    before, after = (_texts(repository, changed, at) for at in (0, 1))
    old, new = (
        {name for path, text in texts.items() if is_binding(path) for name in DEFINED.findall(text)}
        for texts in (before, after)
    )
    return tuple(
        Op(name.decode(), tuple(sorted(_pieces(name, before, after)))) for name in sorted(new - old)
    )


def notes_of(ops: Iterable[Op]) -> str:
    """Lines that keep ops in the message of an extract."""
    lines = [
        [f"op {op.name}", *(f"{does} {op.name} {path}" for does, path in op.pieces)] for op in ops
    ]
    return "".join(f"{line}\n" for each in lines for line in each)


def ops_noted(message: str) -> tuple[Op, ...]:
    """Read those lines; in an extract of an earlier lanewright ops have no pieces."""
    pieces = NOTED_PIECE.findall(message)
    return tuple(
        Op(name, tuple((does, path) for does, op, path in pieces if op == name))
        for name in NOTED.findall(message)
    )


def _is_piece(path: str, sides: Both) -> bool:
    is_text = not any(side and side.mode == SUBMODULE for side in sides)
    is_source = path.startswith("csrc/") and path.endswith(HEADERS + SOURCES)
    return is_text and PLAIN.fullmatch(path) is not None and (is_source or path.endswith(CMAKE))


def _texts(repository: Repository, changed: Mapping[str, Both], at: int) -> dict[str, bytes]:
    files = {path: file for path, sides in changed.items() if (file := sides[at])}
    blobs = read_blobs(repository, [file.blob for file in files.values()])
    return {path: COMMENT.sub(b"", blobs[file.blob]) for path, file in files.items()}


def _pieces(
    op: bytes, before: Mapping[str, bytes], after: Mapping[str, bytes]
) -> Iterator[tuple[str, str]]:
    """What a change makes an op of, as far as vLLM's ways to write it tell."""
    functions = {
        function
        for text in after.values()
        for name, function in IMPLEMENTED.findall(text)
        if name == op
    } or {op}
    called = b"(?:" + b"|".join(map(re.escape, sorted(functions))) + rb")\s*\("
    declared = re.compile(rb"\b" + called)
    defined = re.compile(rb"[\w>&*]\s+(?:\w+::)*" + called + rb"[^;{}]*\)\s*\{")
    sources = []
    for path, text in after.items():
        if is_binding(path) and op in DEFINED.findall(text):
            yield "binds", path
        elif path.endswith(HEADERS + SOURCES) and defined.search(text):
            sources.append(path.encode())
            yield "defines", path
        elif path.endswith(HEADERS) and declared.search(text):
            yield "declares", path
    for path, text in after.items():
        known = before.get(path, b"")
        if path.endswith(CMAKE) and any(each in text and each not in known for each in sources):
            yield "builds", path
