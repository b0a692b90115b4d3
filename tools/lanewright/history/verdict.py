"""What a lane's steps come to in a night."""

from collections.abc import Sequence

from lanewright.history.past import PastStep
from lanewright.nightly.night import Step, Verdict

# What was not run is never told as passed, whatever else has.
GRAVEST: tuple[Verdict, ...] = ("failed", "conflicts", "pending", "not run", "passed")
DRIFT: Verdict = "drift"
LEFT_OUT: Verdict = "left out"
PASSED: Verdict = "passed"


def verdict_of(steps: Sequence[PastStep] | Sequence[Step]) -> tuple[str, str]:
    """The gravest verdict, and the first step that has it.

    Drift and steps that are left out are told beside it, and are the verdict only where there is
    nothing else.

    Args:
        steps: Of one lane, or those that are of all.

    Returns:
        The verdict, which is empty without steps, and the step's name; empty where it passed.
    """
    for verdict in (*GRAVEST, DRIFT, LEFT_OUT):
        found = next((step for step in steps if step.verdict == verdict), None)
        if found:
            return verdict, "" if verdict in (PASSED, DRIFT, LEFT_OUT) else found.name
    return "", ""
