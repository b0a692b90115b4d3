"""A hand fix as a recipe: spans of lines of the three sides, by blob id, and lines of our own.

A fix settles the merge conflict of one file. It quotes nothing that a side has, and still expands
to one content only: the ids of the sides and of the result are part of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from lanewright.errors import LanewrightError
from lanewright.queue.merge.subset import split_lines
from lanewright.store.objects import NO_BLOB, BlobId, blob_id

Side = Literal["base", "ours", "theirs"]

# Many times vLLM's largest file: a few spans can ask for far more than any machine holds.
MOST_BYTES = 32 << 20


class RecipeError(LanewrightError):
    """A fix cannot be read, or does not give what it says."""


@dataclass(frozen=True)
class Span:
    """Lines of one side; the first line is 1, and ``last`` is taken too."""

    side: Side
    first: int
    last: int


@dataclass(frozen=True)
class Own:
    """Lines that no side has, each with its end; only the last of a recipe may lack one."""

    lines: tuple[bytes, ...]


@dataclass(frozen=True)
class Recipe:
    """How the conflict of one file is settled.

    Attributes:
        path: The file.
        base: What both sides came from; ``NO_BLOB`` stands for a side without the file.
        ours: The file as it is on the current tree.
        theirs: The file as the entry has it.
        result: The file as it is settled; ``NO_BLOB`` where it is removed.
        mode: Git's mode of the result.
        parts: What the result is put together from, in order.
        remerged: Whether it was made by merging an older fix again, and nobody has looked at it.
    """

    path: str
    base: BlobId
    ours: BlobId
    theirs: BlobId
    result: BlobId
    mode: str
    parts: tuple[Span | Own, ...]
    remerged: bool = False

    def sides(self) -> dict[Side, BlobId]:
        """The ids that the fix is bound to."""
        return {"base": self.base, "ours": self.ours, "theirs": self.theirs}


def expand(recipe: Recipe, sides: Mapping[Side, bytes | None]) -> bytes | None:
    """The settled file, byte for byte; None where it is removed.

    Args:
        recipe: The fix.
        sides: Content per side; None stands for a side without the file.

    Raises:
        RecipeError: A side or the result has another id, or a span reaches past its side's end.
    """
    for name, wanted in recipe.sides().items():
        content = sides[name]
        found = NO_BLOB if content is None else blob_id(content)
        if found != wanted:
            raise RecipeError(
                f"{recipe.path}: the fix is bound to another {name}: {wanted}, not {found}",
                hint="the file moved since; settle its conflict again on what it is now",
            )
    if recipe.result == NO_BLOB:
        return None
    ends = {name: _ends(sides[name] or b"") for name in sides}
    pieces: list[bytes] = []
    size = 0
    for part in recipe.parts:
        if isinstance(part, Own):
            pieces += part.lines
            size += sum(map(len, part.lines))
        else:
            piece = _taken(recipe, part, sides[part.side] or b"", ends[part.side])
            pieces.append(piece)
            size += len(piece)
        if size > MOST_BYTES:
            raise RecipeError(f"{recipe.path}: the fix gives more than {MOST_BYTES} bytes")
    result = b"".join(pieces)
    if blob_id(result) != recipe.result:
        raise RecipeError(
            f"{recipe.path}: the fix gives {blob_id(result)}, not the result that it names:"
            f" {recipe.result}",
            hint="its file was edited by hand or merged by git; restore it",
        )
    return result


def _ends(content: bytes) -> list[int]:
    """Where line 1, 2, ... end, after a leading 0."""
    return list(accumulate(map(len, split_lines(content)), initial=0))


def _taken(recipe: Recipe, span: Span, content: bytes, ends: list[int]) -> bytes:
    if not 1 <= span.first <= span.last < len(ends):
        raise RecipeError(
            f"{recipe.path}: the fix takes lines {span.first}-{span.last} of {span.side}, which"
            f" has {len(ends) - 1}"
        )
    return content[ends[span.first - 1] : ends[span.last]]
