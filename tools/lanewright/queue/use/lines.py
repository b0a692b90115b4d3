"""Lines of TOML to write by hand: what makes a pull request known, and what plugs it in."""

from collections.abc import Sequence

import msgspec

from lanewright.queue.use.seams import SEAMS

INDENT = "    "


def pr_lines(number: int, seam: str) -> str:
    """A whole ``pr.toml`` for a pull request of which nothing is known yet.

    Args:
        number: Its number.
        seam: The seam to begin with.
    """
    others = ", ".join(each for each in SEAMS if each != seam)
    lines = [
        f"number = {number}",
        'brings = "what it is, in one line"',
        f"provides = {_listed([seam])}  # any of this and {others}",
        '# or, in place of the seams and their source: tests = ["tests/test_it.py"]',
        "",
        "[sources]",
        'brings = "where that is from"',
        'provides = "where that is from"',
    ]
    return _under(f"patches/{number}/pr.toml", lines)


def series_lines(
    lane: str, seam: str, name: str, *, has_seams: bool, entry: Sequence[str] = ()
) -> str:
    """What a series says so that a seam takes an entry's code.

    Args:
        lane: The lane.
        seam: The seam.
        name: The entry's name.
        has_seams: Whether the series has ``[seams]``, where the line belongs then.
        entry: Lines of the entry itself, where the series does not have it.
    """
    plug = f"{seam} = {_text(name)}"
    lines = [*entry, *([""] if entry else []), *([] if has_seams else ["[seams]", plug])]
    told = [_under(f"at the end of series/{lane}.toml", lines)] if any(lines) else []
    told += [_under(f"in series/{lane}.toml, below [seams]", [plug])] if has_seams else []
    return "\n".join(told)


def entry_lines(number: int, select: Sequence[str]) -> list[str]:
    """An entry of a series before its pull request is pinned."""
    chosen = [f"select = {_listed(select)}"] if select else []
    return ["[[entry]]", f"pull = {number}", *chosen]


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, words))}]"


def _text(word: str) -> str:
    """A string as TOML writes it; JSON's form is one of those."""
    return msgspec.json.encode(word).decode()


def _under(place: str, lines: Sequence[str]) -> str:
    return "\n".join([f"  {place}:", *(f"{INDENT}{line}".rstrip() for line in lines)])
