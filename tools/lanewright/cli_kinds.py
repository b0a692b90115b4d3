"""What a word of the command line must be; argparse tells what it is not."""

import argparse
import re
from pathlib import Path

LAST_PORT = 65535
# Of a step; no engine's has more.
MOST_TOKENS = 2**24
# Of nights, and of the days between them: a hundred years.
MOST_DAYS = 36500
# Of engines: the unpatched pin and the lane, at least.
LEAST_BOOTS, MOST_BOOTS = 2, 1000
# Users of a lane, or slots of a layer.
MOST_COUNT = 65536
# Of Zipf; beyond it one expert has all picks.
MOST_SKEW = 10.0
# Of EAMs, and the like; each takes memory.
MOST_OF_ANY = 10**6
# Between two frames of what is shown live, in seconds.
SHORTEST, LONGEST = 0.1, 3600.0


def tokens(least: int, text: str) -> int:
    """So many tokens of a step, from ``least`` on."""
    return _between(text, least, MOST_TOKENS)


def days(text: str) -> int:
    """So many days, or nights."""
    return _between(text, 1, MOST_DAYS)


def boots(text: str) -> int:
    """So many engines of a comparison."""
    return _between(text, LEAST_BOOTS, MOST_BOOTS)


def port(text: str) -> int:
    """A TCP port."""
    number = int(text)
    if not 0 < number <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"{number} is no port")
    return number


def above(text: str) -> float:
    """A finite number above 0."""
    number = _number(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def links(text: str) -> list[float]:
    """Numbers above 0, with commas."""
    return [above(part) for part in text.split(",")]


def whole(text: str) -> int:
    """A whole number from 1 to a million."""
    return _between(text, 1, MOST_OF_ANY)


def many(text: str) -> int:
    """A whole number from 1 on."""
    return _between(text, 1, 2**40)


def wholes(text: str) -> tuple[int, ...]:
    """Whole numbers, with commas."""
    return tuple(whole(part) for part in text.split(","))


def milliseconds(text: str) -> float:
    """A time that may be none."""
    number = _number(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no time")
    return number


def share(text: str) -> float:
    """A number from 0 to 1."""
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share: from 0 to 1")
    return number


def held_out(text: str) -> tuple[str, float, float]:
    """A kind of text and the part of it: ``python``, or ``python:0.5-0.75``."""
    kind, colon, part = text.partition(":")
    if not re.fullmatch(r"[a-z]+", kind):
        raise argparse.ArgumentTypeError(f"{text!r} is no kind of text")
    start, _, stop = part.partition("-") if colon else ("0", "", "1")
    found = kind, share(start), share(stop)
    if found[1] >= found[2]:
        raise argparse.ArgumentTypeError(f"{part} is no part of a text, as 0.5-0.75 is")
    return found


def hidden(text: str) -> float:
    """A share below 1: of what is hidden something is left."""
    number = share(text)
    if number == 1:
        raise argparse.ArgumentTypeError(f"{text} leaves nothing: below 1")
    return number


def exponent(text: str) -> float:
    """An exponent of Zipf's."""
    number = _number(text)
    if not 0 <= number <= MOST_SKEW:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to {MOST_SKEW:g}")
    return number


def count(what: str, text: str) -> int:
    """So many of something."""
    try:
        return _between(text, 1, MOST_COUNT)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{what}: {error}") from None


def interval(text: str) -> float:
    """Seconds between two frames of what is shown live."""
    seconds = _number(text)
    if not SHORTEST <= seconds <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is not from {SHORTEST} to {LONGEST} seconds")
    return seconds


def named_path(text: str) -> Path:
    """A path; an unset variable would be the folder that one is in."""
    if not text:
        raise argparse.ArgumentTypeError(
            "it is empty: is EXPERT_BANK_STATS set in this shell? --port asks the server itself"
        )
    return Path(text)


def _between(text: str, least: int, most: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{number} is not from {least} to {most}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
