"""What is asked of an engine whose picks are recorded."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.serve.equality.prompts import prompts_for

# A piece of text is so many characters, which is some sixty tokens of the trained model's.
PIECE = 160
ANSWER = 64
MOST_LINE = 2**24
HINT = 'a line is JSON, as {"prompt": "Once", "max_tokens": 64, "temperature": 0, "seed": 1}'


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One request.

    Attributes:
        prompt: Text, or token ids.
        max_tokens: Of the answer, which has all of them.
        temperature: 0 for greedy.
        seed: Of the sampling.
    """

    prompt: str | list[int]
    max_tokens: int = ANSWER
    temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.prompt or self.max_tokens < 1 or not 0 <= self.temperature < float("inf"):
            raise ValueError("an empty prompt, no token to answer, or a temperature below 0")


# What training held out: a kind, and from where to where of it, 0 to 1.
Part = tuple[str, float, float]


def of_file(path: Path) -> list[Request]:
    """Read requests, one a line.

    Raises:
        LanewrightError: There is no such file, or a line is none; it is named.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise LanewrightError(f"requests {path}: {error.strerror}", hint=HINT) from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line[:MOST_LINE], type=Request))
            except (msgspec.DecodeError, ValueError) as error:
                raise LanewrightError(f"{path}, line {number}: {error}", hint=HINT) from error
    if not found:
        raise LanewrightError(f"requests {path}: there is none in it", hint=HINT)
    return found


def of_texts(model: Path, texts: Sequence[Part], each: int, seed: int) -> list[Request]:
    """Cut pieces of held-out text, each of which is gone on with by sampling.

    Args:
        model: Folder of a model that was trained here.
        texts: Which, one after the other.
        each: Requests of each.
        seed: Of the sampling; greedy answers of a small model repeat themselves.

    Raises:
        LanewrightError: The model has no such text, or not so much of it.
    """
    found: list[Request] = []
    for kind, start, stop in texts:
        file = model / "held_out" / f"{kind}.txt"
        try:
            whole = file.read_text(encoding="utf-8")
        except OSError as error:
            kinds = ", ".join(sorted(each.stem for each in file.parent.glob("*.txt"))) or "none"
            raise LanewrightError(
                f"--text {kind}: the model held out no such text; there is {kinds}",
                hint="name a lane whose model is trained, as cpu-follow, or give --requests",
            ) from error
        part = whole[int(start * len(whole)) : int(stop * len(whole))]
        pieces = [part[at : at + PIECE] for at in range(0, len(part) - PIECE + 1, PIECE)]
        if len(pieces) < each:
            raise LanewrightError(
                f"--text {kind}: {start:g} to {stop:g} of it has {len(pieces)} pieces,"
                f" and {each} are wanted",
                hint="ask for fewer with --count, or for a larger part",
            )
        found += [
            Request(prompt=piece, temperature=1.0, seed=seed + len(found) + number)
            for number, piece in enumerate(pieces[:each])
        ]
    return found


def usual(model: Path) -> list[Request]:
    """What ``equal`` asks, too."""
    return [Request(prompt=each) for each in prompts_for(model)]
