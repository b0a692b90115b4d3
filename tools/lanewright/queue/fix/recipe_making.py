"""The recipe of a settled file: what the sides have is spans, all else lines of our own."""

from collections.abc import Iterator, Mapping, Sequence

from lanewright.queue.fix.recipe import MOST_BYTES, Own, Recipe, RecipeError, Side, Span
from lanewright.queue.fix.recipe_runs import LINE_COST, Reader, cheapest_runs
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.patch.patchhead import MODES
from lanewright.store.objects import NO_BLOB, blob_id
from lanewright.store.safepath import check

SHORT = 8


def make(path: str, mode: str, sides: Mapping[Side, bytes | None], result: bytes | None) -> Recipe:
    """The recipe that gives ``result`` from ``sides``.

    A line that a side has is a line of our own only where it is short (8 characters that are not
    blank), and a span would not be worth it.

    Args:
        path: The file.
        mode: Git's mode of the result.
        sides: Content per side; None stands for a side without the file.
        result: The settled file; None where it is removed.

    Raises:
        RecipeError: No mode of a regular file, or a result too large to be expanded again.
        UnsafePathError: The path would leave the tree.
    """
    check(path, source="a fix")
    if mode not in MODES:
        raise RecipeError(f"{path}: the mode {mode} is not of a regular file")
    if result is not None and len(result) > MOST_BYTES:
        raise RecipeError(f"{path}: too large for a fix: more than {MOST_BYTES} bytes")
    base, ours, theirs, settled = (
        NO_BLOB if content is None else blob_id(content)
        for content in (sides["base"], sides["ours"], sides["theirs"], result)
    )
    lines = split_lines(result or b"")
    # A side that is taken whole is said so, though ours may have most of its lines.
    whole = [Span(side, 1, len(lines)) for side in LINE_COST if lines and sides[side] == result]
    parts = tuple(whole[:1] or _parts(sides, lines))
    return Recipe(path, base, ours, theirs, settled, mode, parts)


def _parts(sides: Mapping[Side, bytes | None], lines: Sequence[bytes]) -> Iterator[Span | Own]:
    numbers: dict[bytes, int] = {}

    def numbered(texts: Sequence[bytes]) -> list[int]:
        return [numbers.setdefault(text, len(numbers)) for text in texts]

    result = numbered(lines)
    readers = {side: Reader(side, numbered(split_lines(sides[side] or b""))) for side in LINE_COST}
    short = [len(b"".join(line.split())) <= SHORT for line in lines]
    for run in cheapest_runs(result, readers, short):
        if run.side:
            yield Span(run.side, run.at + 1, run.at + run.end - run.begin)
        else:
            yield Own(tuple(lines[run.begin : run.end]))
