r"""A fix as text: made for review in git, and bytes throughout, as the lines of a file are.

lanewright-fix 1
path: vllm/config/offload.py
base: <40 hex digits; zeros where that side lacks the file>
ours: <the same>
theirs: <the same>
result: <the same; zeros where the file is removed>
mode: 100644

ours 1-120
theirs 33-40
+a line of its own
\\ no newline at end
"""

import io
import re
from collections.abc import Iterator
from dataclasses import replace

from lanewright.queue.fix.recipe import MOST_BYTES, Own, Recipe, RecipeError, Span
from lanewright.queue.patch.patchhead import MODES
from lanewright.store.objects import FULL_ID, NO_BLOB, BlobId
from lanewright.store.safepath import UnsafePathError, check

FIRST_LINE = b"lanewright-fix 1"
KEYS = ("path", "base", "ours", "theirs", "result", "mode", "remerged")
OPTIONAL = KEYS[-1]
SPAN = re.compile(rb"(base|ours|theirs) (0|[1-9]\d{0,8})-(0|[1-9]\d{0,8})\n")
NO_NEWLINE = b"\\ no newline at end\n"
MOST_SHOWN = 60


def encode(recipe: Recipe) -> bytes:
    """The recipe as its file holds it."""
    fields = "".join(f"{key}: {getattr(recipe, key)}\n" for key in KEYS if key != OPTIONAL)
    if recipe.remerged:
        fields += f"{OPTIONAL}: yes\n"
    lines = [FIRST_LINE, b"\n", fields.encode(), b"\n"]
    for part in recipe.parts:
        if isinstance(part, Span):
            lines.append(f"{part.side} {part.first}-{part.last}\n".encode())
            continue
        for line in part.lines:
            lines += [b"+", line] if line.endswith(b"\n") else [b"+", line, b"\n", NO_NEWLINE]
    return b"".join(lines)


def parse(content: bytes, source: str) -> Recipe:
    """Read a recipe; only what ``encode`` writes is taken.

    Args:
        content: The file.
        source: Its name, for messages.

    Raises:
        RecipeError: Damaged, converted, of another version, or with an unsafe path.
    """
    _check_readable(content, source)
    head, gap, body = content.partition(b"\n\n")
    fields = _fields(head.split(b"\n")[1:], source)
    if not gap:
        raise RecipeError(f"{source}: no empty line after the header: the file is cut off")
    base, ours, theirs, result = (BlobId(fields[key]) for key in KEYS[1:5])
    remerged = OPTIONAL in fields
    recipe = Recipe(fields["path"], base, ours, theirs, result, fields["mode"], (), remerged)
    parts = _parts(body, recipe, source, len(fields) + 3)
    return replace(recipe, parts=tuple(parts))


def _check_readable(content: bytes, source: str) -> None:
    first = content[:MOST_SHOWN].partition(b"\n")[0]
    if first.endswith(b"\r") and first.startswith(b"lanewright-fix "):
        raise RecipeError(
            f"{source}: its lines end in CRLF, so it no longer gives the bytes that it names",
            hint="keep fixes out of line-end conversion (`*.fix -text` in .gitattributes),"
            " then check the file out again",
        )
    if first != FIRST_LINE:
        raise RecipeError(
            f"{source}: line 1: {_shown(first)} where {FIRST_LINE.decode()!r} must be",
            hint="it is no fix, is damaged, or was written by another version of lanewright",
        )
    if len(content) > MOST_BYTES:
        raise RecipeError(f"{source}: longer than {MOST_BYTES} bytes")


def _fields(lines: list[bytes], source: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        raw_key, colon, raw = line.partition(b": ")
        key, value = raw_key.decode("utf-8", "replace"), raw.decode("utf-8", "surrogateescape")
        place = f"{source}: line {number}"
        if not colon or key not in KEYS:
            raise RecipeError(f"{place}: {_shown(line)} is none of `{':`, `'.join(KEYS)}:`")
        if key in fields:
            raise RecipeError(f"{place}: `{key}:` for the second time")
        if key != KEYS[len(fields)]:
            raise RecipeError(f"{place}: `{key}:` where `{KEYS[len(fields)]}:` must be")
        fields[key] = _value(key, value, place)
    if len(fields) < len(KEYS) - 1:
        raise RecipeError(f"{source}: the header ends without `{KEYS[len(fields)]}:`")
    return fields


def _value(key: str, value: str, place: str) -> str:
    if key == "path":
        try:
            return check(value, source=place)
        except UnsafePathError as error:
            raise RecipeError(str(error)) from error
    if key == "mode" and value not in MODES:
        raise RecipeError(f"{place}: the mode {value[:MOST_SHOWN]!r} is not of a regular file")
    if key == OPTIONAL and value != "yes":
        raise RecipeError(f"{place}: `{key}:` can only be yes, or absent")
    if key not in {"mode", OPTIONAL} and not FULL_ID.fullmatch(value):
        raise RecipeError(f"{place}: {value[:MOST_SHOWN]!r} is no full object id of 40 digits")
    return value


def _parts(body: bytes, recipe: Recipe, source: str, start: int) -> Iterator[Span | Own]:
    own: list[bytes] = []
    ended = False
    for number, line in enumerate(io.BytesIO(body), start):
        place = f"{source}: line {number}"
        if recipe.result == NO_BLOB:
            raise RecipeError(f"{place}: {_shown(line)}, though the file is removed")
        if ended:
            raise RecipeError(f"{place}: {_shown(line)} after the line without a newline")
        if not line.endswith(b"\n"):
            raise RecipeError(f"{place}: the file ends within a line: it is cut off")
        if line.startswith(b"+"):
            own.append(line[1:])
        elif line == NO_NEWLINE:
            if not own or own[-1] == b"\n":
                raise RecipeError(f"{place}: {_shown(line)} must follow a line of its own")
            own[-1] = own[-1][:-1]
            ended = True
        else:
            if own:
                yield Own(tuple(own))
                own = []
            yield _span(line, recipe, place)
    if own:
        yield Own(tuple(own))


def _span(line: bytes, recipe: Recipe, place: str) -> Span:
    match = SPAN.fullmatch(line)
    if not match:
        raise RecipeError(
            f"{place}: {_shown(line)} is neither lines of a side nor a line of its own",
            hint="as `ours 3-7`, or a `+` before the line",
        )
    sides = recipe.sides()
    [side] = [name for name in sides if name == match[1].decode()]
    span = Span(side, int(match[2]), int(match[3]))
    if not 1 <= span.first <= span.last:
        raise RecipeError(f"{place}: {_shown(line)}: lines count from 1, the first comes first")
    if sides[side] == NO_BLOB:
        raise RecipeError(f"{place}: {_shown(line)}, where {side} does not have the file")
    return span


def _shown(line: bytes) -> str:
    return repr(line.removesuffix(b"\n")[:MOST_SHOWN].decode("utf-8", "replace"))
