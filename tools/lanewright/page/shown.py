"""Words as a page shows them: each verdict is a word, a mark and a colour, and foreign text is cut."""

from dataclasses import dataclass

from lanewright.invisible import visible
from lanewright.terminal import printable

# Characters of one text; a page is read by people.
LONGEST = 20_000
BRIEF = 2_000
LOG_LINES, LOG_WIDTH = 60, 300
MINUTE = 60


@dataclass(frozen=True)
class Shown:
    """A verdict.

    Attributes:
        word: It.
        kind: Class in the style sheet.
        mark: A sign that is told apart without colours.
    """

    word: str
    kind: str
    mark: str


KINDS = {
    "good": ("✓", ("passed", "equal", "clean", "merged", "landed", "fixed", "carried")),
    "amber": (
        "!",
        (
            "not run",
            "inconclusive",
            "not compared",
            "landed changed",
            "fix stale",
            "not carried yet",
            "slower",
        ),
    ),
    "moved": ("↗", ("drift", "faster")),
    "quiet": ("○", ("left out", "not selected", "watched", "within the drift", "not counted")),
    "bad": ("✕", ("failed", "differs", "file missing", "to blame")),
    "conflict": ("≠", ("conflicts", "conflict")),
    "open": ("…", ("pending", "interrupted")),
}
OF_WORD = {word: (kind, mark) for kind, (mark, words) in KINDS.items() for word in words}


def shown(word: str) -> Shown:
    """A verdict, or an outcome, as it is shown; what is not known here is nothing good."""
    kind, mark = OF_WORD.get(word, ("amber", "?"))
    return Shown(word, kind, mark)


def fit(text: str, most: int = LONGEST) -> str:
    """Text of others with nothing in it that hides or steers, cut where it is very long."""
    more = len(text) - most
    whole = visible(printable(text[:most]))
    return whole if more <= 0 else f"{whole}\n… {more:,} more characters are not shown"


def first_line(text: str, most: int = 200) -> str:
    """The first line of a text, cut short."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= most else f"{line[:most]}…"


def brief(text: str) -> str:
    """Text of others within a sentence, or beside a step."""
    return fit(text, BRIEF)


def last_lines(text: str, most: int = LOG_LINES) -> str:
    """The end of a log."""
    lines = text.splitlines()
    left = len(lines) - most
    told = [f"… {left:,} earlier lines are not shown"] if left > 0 else []
    return "\n".join([*told, *(_cut(line) for line in lines[-most:])])


def _cut(line: str) -> str:
    more = len(line) - LOG_WIDTH
    return line if more <= 0 else f"{line[:LOG_WIDTH]}… {more:,} more characters"


def took(seconds: float | None) -> str:
    """How long something took, e.g. ``9.9 s`` or ``4 min 12 s``."""
    if seconds is None:
        return ""
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), MINUTE)
    return f"{minutes} min {rest:02} s"


def when(time: str | None) -> str:
    """A time of ours for people, e.g. ``2026-12-03 00:15 UTC``."""
    return f"{time[:10]} {time[11:16]} UTC" if time else ""
