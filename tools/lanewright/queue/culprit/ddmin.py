"""The smallest part of a set that still fails, after Zeller and Hildebrandt's *ddmin*."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")


def ddmin(items: Sequence[Item], is_bad: Callable[[tuple[Item, ...]], bool]) -> tuple[Item, ...]:
    """A bad subset, in order, from which no single item can be taken without its ceasing to be bad.

    What is not known to be bad, because it is good or because nothing could be told, counts the
    same. No set is asked about twice; that all items are bad, and that none are not, is taken for
    granted and never asked.

    Args:
        items: Of which all together are bad.
        is_bad: Whether some of them, in order, are.

    References:
        Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE
        Transactions on Software Engineering 28(2), 2002.
    """
    numbers = tuple(range(len(items)))
    known = {numbers: True, (): False}

    def bad(some: tuple[int, ...]) -> bool:
        if some not in known:
            known[some] = is_bad(tuple(items[number] for number in some))
        return known[some]

    left, count = numbers, 2
    while len(left) > 1:
        ends = [len(left) * at // count for at in range(count + 1)]
        chunks = list(pairwise(ends))
        alone = next((left[a:b] for a, b in chunks if bad(left[a:b])), None)
        if alone is not None:
            left, count = alone, 2
            continue
        rest = next((left[:a] + left[b:] for a, b in chunks if bad(left[:a] + left[b:])), None)
        if rest is not None:
            left, count = rest, max(count - 1, 2)
        elif count < len(left):
            count = min(2 * count, len(left))
        else:
            break
    return tuple(items[number] for number in left)
