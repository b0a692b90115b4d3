"""What is asked, and how long the answers are."""

from pathlib import Path

PROMPTS = tuple(Path(__file__).with_name("prompts.txt").read_text(encoding="utf-8").splitlines())
MAX_TOKENS = 64
DISTINCT = 200
# Folder of a trained model's: text that it was not trained on, a file for each kind.
HELD_OUT = "held_out"


def prompts_for(model: Path) -> tuple[str, ...]:
    """As many prompts as ``PROMPTS``: those, or pieces of what a model's training held out.

    Pieces are of each kind in turn, from 1 to 259 characters long, and begin where a line does.
    """
    texts = [file.read_text(encoding="utf-8") for file in sorted((model / HELD_OUT).glob("*.txt"))]
    if not texts:
        return PROMPTS
    count = len(PROMPTS)
    # 27 and 44 have no common factor: each length once, short and long ones mixed.
    return tuple(
        piece(texts[number % len(texts)], number / count, 1 + 6 * (number * 27 % count))
        for number in range(count)
    )


def piece(text: str, place: float, size: int) -> str:
    """Cut a piece out of a text: behind the first end of a line from a place on, 0 to 1."""
    start = text.index("\n", int(len(text) * place))
    return text[start:].lstrip()[:size]
