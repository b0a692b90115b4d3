"""What the rows of a mode come to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lanewright.serve.equality.asked import DEFAULT, Asked, Mode
from lanewright.serve.equality.compare import Answer, Row

Verdict = Literal["equal", "differs", "inconclusive", "not compared"]
# Whose answers both controls are.
CONTROL = "self"


@dataclass(frozen=True)
class Judged:
    """One mode of the engine, judged.

    Attributes:
        mode: Whether vLLM compiled the model.
        verdict: ``inconclusive`` where a control failed, whatever the arms say; ``not compared`` where
            an engine's kernels were tuned otherwise than the baseline's.
        why: Which control failed, which arms differ, or are not compared; empty where all is equal.
        distinct: How many different tokens the baseline's answers hold.
        rows: Controls first; none of an engine that is not compared.
    """

    mode: Mode
    verdict: Verdict
    why: str
    distinct: int
    rows: tuple[Row, ...]


def judge(
    mode: Mode,
    baseline: Sequence[Answer],
    rows: Sequence[Row],
    *,
    spoilt: Sequence[str] = (),
    asked: Asked = DEFAULT,
    apart: Mapping[str, str] | None = None,
) -> Judged:
    """Judge one mode by its rows; a compare whose controls fail shows nothing.

    Args:
        mode: Which.
        baseline: Its answers.
        rows: Controls and arms.
        spoilt: Why arms did not run as they must, if any did not.
        asked: How much was asked.
        apart: Engines that are not compared, and why not.
    """
    distinct = len({token for answer in baseline for token in answer.ids})
    apart = apart or {}
    blind = [*spoilt, *_blind(rows, distinct, asked, apart)]
    shortest = min((len(answer.ids) for answer in baseline), default=0)
    if shortest < asked.tokens:
        blind.append(f"an answer of the baseline has {shortest} tokens, fewer than {asked.tokens}")
    different = [row.arm for row in rows if row.role == "arm" and row.first]
    if blind:
        verdict: Verdict = "inconclusive"
    elif different:
        verdict = "differs"
    else:
        verdict = "not compared" if apart else "equal"
    told = blind or ([", ".join(different)] if different else [])
    why = "; ".join([*told, *(f"{name} is not compared: {said}" for name, said in apart.items())])
    return Judged(mode, verdict, why, distinct, tuple(rows))


def _blind(
    rows: Sequence[Row], distinct: int, asked: Asked, apart: Mapping[str, str]
) -> Iterable[str]:
    """Yield why the compare could not have seen a change, or sees one that is none."""
    roles = {row.role for row in rows}
    for role in ("control", "negative control", "arm"):
        of_control = role != "arm"
        told = any((name == CONTROL) == of_control for name in apart)
        if role not in roles and not told:
            yield f"there is no {role}"
    for row in rows:
        if row.role == "control" and row.first:
            yield f"the baseline differs from itself in {row.prompts - row.equal} answers"
        if row.role == "negative control" and row.equal == row.prompts:
            yield f"{row.arm}, which must differ, is equal"
    if distinct < asked.distinct:
        yield f"the answers hold {distinct} distinct tokens, fewer than {asked.distinct}"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the verdict of several: differing outweighs all, then what shows nothing, then not comparing."""
    found = set(verdicts)
    if not found:
        return "inconclusive"
    order: tuple[Verdict, ...] = ("differs", "inconclusive", "not compared", "equal")
    return next(verdict for verdict in order if verdict in found)
