"""The proof that cold rows are staged where prompts are computed, and nowhere else."""

from collections.abc import Mapping
from typing import Any

from lanewright.errors import MismatchError
from lanewright.serve.features import STAGE


def require_staging(who: str, banks: Mapping[str, Any], engine: Mapping[str, object]) -> None:
    """Go on where prompts were computed from staged rows, decode steps were not, and each byte counts.

    Args:
        who: Which boot and worker this is, for messages.
        banks: What it told.
        engine: Engine arguments.

    Raises:
        MismatchError: Nothing was staged, or not what the arithmetic has.
    """
    staging = banks.get("staging")
    if not engine.get(STAGE):
        if staging is not None:
            raise MismatchError(f"{who}: {STAGE} is off, and there is a staging buffer")
        return
    nothing = f"{who}: {STAGE} is on and proves nothing: "
    if staging is None:
        raise MismatchError(f"{nothing}there is no staging buffer")
    if staging["off"]:
        raise MismatchError(
            f"{nothing}{staging['off']}",
            hint=f"see what the engine's log says of {STAGE}; {STAGE} '1' or '2' has room for every layer",
        )
    if not staging["bytes"]:
        raise MismatchError(
            f"{nothing}no step was staged ({told_refused(staging)}); the bytes want"
            f" {staging['least_tokens'] or 'more than any number of'} tokens that compute a prompt",
            hint="see that max_model_len and max_num_batched_tokens let a step have as many",
        )
    slots = {int(layer): rows for layer, rows in staging["slots"].items()}
    rows = staging["steps"] * sum(slots.values())
    size = staging["steps"] * sum(n * banks["row_bytes"][layer] for layer, n in slots.items())
    if (staging["rows"], staging["bytes"]) != (rows, size):
        raise MismatchError(
            f"{who}: {STAGE}: {staging['steps']} steps staged {staging['rows']} rows and"
            f" {staging['bytes']} bytes; each layer's cold rows once are {rows} rows and {size} bytes"
        )
    refused = staging["refused"]
    if staging["steps"] + sum(refused.values()) != banks["forwards"]:
        raise MismatchError(
            f"{who}: {STAGE}: {staging['steps']} steps were staged and {sum(refused.values())}"
            f" refused, and there were {banks['forwards']}"
        )
    if not refused["decode"]:
        raise MismatchError(f"{nothing}no step was a decode step, and was left in place")


def told_staging(banks: Mapping[str, Any]) -> list[str]:
    """Tell what was staged, in words; nothing where nothing is to be."""
    staging = banks.get("staging")
    if staging is None:
        return []
    return [
        (
            f"{staging['steps']} steps with {staging['tokens']} tokens staged {staging['rows']} cold"
            f" rows, {staging['bytes']} bytes, {staging['late']} of the rows late;"
            f" {told_refused(staging)} in place"
        )
    ]


def told_refused(staging: Mapping[str, Any]) -> str:
    """Count the steps that were not staged, by why."""
    found = [f"{count} {why}" for why, count in staging["refused"].items() if count]
    return f"{', '.join(found) or 'no'} steps"
