"""Characters that nobody sees or that steer a terminal: a text reads otherwise than it runs."""

import re
import unicodedata

# Direction marks, embeddings and isolates; zero width; fillers that pass for letters; tags; line
# separators, which end a line for some who show it and for Python do not; what moves a terminal's
# cursor. Those that emoji and upright text need (a variation selector, soft hyphens) are not among
# them; variation selectors in a row, and those of the supplement, spell out any bytes unseen.
INVISIBLE = re.compile(
    "[\x08\x1b\x7f-\x9f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
# In what is typed even those are written out, and with them what shows nothing but room.
UNSEEN = re.compile(f"{INVISIBLE.pattern}|[\u2800\ufe00-\ufe0f\U00016fe4\U0001d159]")
# C0 and C1 but tab, new line, form feed and carriage return, which texts have.
CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
UNSHOWN = re.compile(f"{INVISIBLE.pattern}|{CONTROL.pattern}|[\x0c\r\u2028\u2029]")


def named(character: str) -> str:
    """E.g. ``U+202E right-to-left override``."""
    name = unicodedata.name(character, "") or ("control" if CONTROL.match(character) else "")
    return f"U+{ord(character):04X}{f' {name.lower()}' if name else ''}"


def visible(text: str) -> str:
    """A text with what nobody sees written out, as Python would; tabs and new lines stay."""
    return UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
