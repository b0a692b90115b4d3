"""Time decode steps with the usage counter on and off: ``toggle_counter.py SPEC``, see ``toggling``.

Off means what a lane without the counter has: the layers' class is vLLM's own, and the worker
passes its steps on.
"""

import sys
from collections.abc import Callable
from typing import Any

import toggling


class Switch:
    """Turns the counter of a worker on and off."""

    def __init__(self, worker: Any) -> None:  # noqa: ANN401 - vLLM's
        from expert_bank.glue.experts import CountedExperts  # noqa: PLC0415 - imports vLLM

        self.worker = worker
        self.counter = worker.pick_counter
        modules = worker.model_runner.get_model().modules()
        self.layers = [each for each in modules if isinstance(each, CountedExperts)]
        self.counting, (self.plain, *_) = CountedExperts, CountedExperts.__bases__

    def turn(self, *, on: bool) -> None:
        """Give the layers our class or vLLM's, and the worker its counter or none."""
        self.worker.pick_counter = self.counter if on else None
        for layer in self.layers:
            layer.__class__ = self.counting if on else self.plain

    def told(self, decode: Callable[[], toggling.Answers]) -> dict[str, Any]:  # noqa: ARG002 - nothing more is to be run
        """Tell how many picks were counted."""
        counter = self.counter
        counted = int(counter.snapshot().sum())
        expected = counter.tokens * counter.picks_per_token * len(counter.layers)
        if counted != expected or not counted:
            raise RuntimeError(f"{counted} picks counted, and {expected} in the steps that were on")
        return {"layers": len(self.layers), "picks": counted}


if __name__ == "__main__":
    toggling.main(Switch, *sys.argv[1:])
