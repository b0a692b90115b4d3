"""Keeps what is held out apart from what is trained on, by the passages that they share."""

from collections.abc import Iterable, Sequence

# Characters in a row; what shares fewer is no copy of another.
PASSAGE = 50
# Of a document's passages that stand in others before it: more, and it is their twin, as a
# module that is generated from another.
MOST_OF_DOCUMENT = 0.2
# Of a held-out paragraph's passages that stand in what is trained on, or before it.
MOST_OF_PARAGRAPH = 0.05


def passages(text: str) -> set[str]:
    """Cut out every passage; none of a text that is shorter than one."""
    return {text[start : start + PASSAGE] for start in range(len(text) - PASSAGE + 1)}


def without_twins(documents: Iterable[str]) -> list[str]:
    """Leave out each document that mostly repeats those before it."""
    seen: set[str] = set()
    kept = []
    for each in documents:
        own = passages(each)
        if len(own & seen) <= MOST_OF_DOCUMENT * len(own):
            kept.append(each)
            seen |= own
    return kept


def unseen(documents: Iterable[str], trained: Sequence[str]) -> list[str]:
    """Leave out each paragraph that repeats what is trained on, or a paragraph before it.

    Args:
        documents: Held out; paragraphs have an empty line between them.
        trained: What is trained on.

    Returns:
        The documents that have anything left.
    """
    seen: set[str] = set().union(*map(passages, trained))
    kept = []
    for each in documents:
        paragraphs = []
        for paragraph in each.split("\n\n"):
            own = passages(paragraph)
            if len(own & seen) <= MOST_OF_PARAGRAPH * len(own):
                paragraphs.append(paragraph)
            seen |= own
        if any(paragraph.strip() for paragraph in paragraphs):
            kept.append("\n\n".join(paragraphs))
    return kept
