"""The smallest bad set of a lane's parts that can be found by leaving out some of them."""

from collections.abc import Callable

from lanewright.queue.culprit.ddmin import ddmin
from lanewright.queue.culprit.parts import Piece, Pieces, by_entry, by_file, one_by_one
from lanewright.queue.culprit.trials import Trials

LEVELS: tuple[tuple[str, Callable[[Pieces], list[Pieces]]], ...] = (
    ("entries", by_entry),
    ("files", by_file),
    ("parts", one_by_one),
)


def smallest(trials: Trials) -> Pieces:
    """Entries first, then files, then single parts; all of the lane's together are bad."""
    left = trials.pieces
    for name, grouped in LEVELS:
        groups = grouped(left)

        def is_bad(some: tuple[Pieces, ...], name: str = name, count: int = len(groups)) -> bool:
            what = f"{len(some)} of {count} {name}"
            return trials.judged(_flat(some), what).verdict == "bad"

        left = _flat(ddmin(groups, is_bad))
    return _apart(trials, left)


def _apart(trials: Trials, left: Pieces) -> Pieces:
    """Less than these, where a part and what needs it are bad without each other's help."""
    for piece in left:
        fewer = less(left, piece)
        tried = trials.judged(fewer, f"those without {piece.part}")
        while tried.without:
            fewer = tuple(each for each in fewer if each not in tried.without)
            tried = trials.judged(fewer, f"those without {piece.part} and what needs it")
        if tried.verdict == "bad":
            return _apart(trials, fewer)
    return left


def less(pieces: Pieces, left_out: Piece) -> Pieces:
    """All but one."""
    return tuple(piece for piece in pieces if piece != left_out)


def _flat(groups: tuple[Pieces, ...]) -> Pieces:
    return tuple(piece for group in groups for piece in group)
