"""Characters that nobody sees, and that make a text read otherwise than a machine reads it."""

import re
import unicodedata

# Direction marks, embeddings and isolates; zero width; fillers that pass for letters; tags. Those
# that emoji and upright text need (variation selectors, soft hyphens) are not among them.
INVISIBLE = re.compile(
    "[\u061c\u115f\u1160\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\U000e0000-\U000e007f]"
)


def named(character: str) -> str:
    """E.g. ``U+202E right-to-left override``."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}{f' {name.lower()}' if name else ''}"


def visible(text: str) -> str:
    """A text with what nobody sees written out, as Python would."""
    return INVISIBLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
