"""How much is asked of every engine that is compared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.series_boot import DRIFT, EqualitySpec
from lanewright.serve.boot import MODEL_ARGUMENTS, OWN_ARGUMENTS
from lanewright.serve.equality.prompts import DISTINCT, MAX_TOKENS, PROMPTS
from lanewright.serve.features import without_features

# Of how a model fits, these say nothing.
NOT_A_BASELINES = OWN_ARGUMENTS | MODEL_ARGUMENTS | {"worker_cls", "worker_extension_cls"}
Mode = Literal["eager", "compiled"]
MODES: tuple[Mode, ...] = ("eager", "compiled")


@dataclass(frozen=True)
class Asked:
    """How much is asked; by default what every lane is asked that can answer it in minutes.

    Attributes:
        prompts: How many, from the first on.
        tokens: Length of every answer.
        distinct: How many different tokens the baseline's answers must hold: fewer, and a model
            that has lost its way could still look equal.
        modes: Of the engine.
        together: How many prompts are asked at once, in runs behind the one that asks them one by
            one.
        baseline: Engine arguments where every feature of ours is off.
        texts: The prompts, as many as ``PROMPTS``.
        drift: How far throughput may be from the baseline's before that counts, as a share.
    """

    prompts: int = len(PROMPTS)
    tokens: int = MAX_TOKENS
    distinct: int = DISTINCT
    modes: tuple[Mode, ...] = MODES
    together: tuple[int, ...] = ()
    baseline: Mapping[str, object] = field(default_factory=dict)
    texts: tuple[str, ...] = PROMPTS
    drift: float = DRIFT

    @classmethod
    def of(cls, spec: EqualitySpec, place: str, engine: Mapping[str, object]) -> Self:
        """Read what a series says.

        Args:
            spec: What it says.
            place: Where, for messages.
            engine: The same series' engine arguments.

        Raises:
            LanewrightError: There are no so many prompts or modes, no so many can be asked at once,
                the answers are too short to hold so many different tokens, or the engine is too
                short for the answers; or an argument of the baseline switches a feature on.
        """
        told: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in msgspec.structs.asdict(spec).items()
            # Where a night looks on is no matter of what is compared.
            if value is not None and name != "bisect_on"
        }
        asked = cls(**told)
        if taken := sorted(NOT_A_BASELINES.intersection(asked.baseline)):
            raise LanewrightError(
                f"{place} baseline: {', '.join(taken)} is the boot's own, or would make another model",
                hint="take it out: only how the model fits its device is to be said there",
            )
        ours = sorted(asked.baseline.keys() - without_features(asked.baseline).keys())
        if ours:
            raise LanewrightError(
                f"{place} baseline: {', '.join(ours)} is of our overlay, which the unpatched pin"
                " does not have",
                hint="say there only what upstream knows",
            )
        if asked.prompts > len(PROMPTS):
            raise LanewrightError(f"{place} prompts: there are {len(PROMPTS)}, not {asked.prompts}")
        if not asked.modes or len(set(asked.modes)) < len(asked.modes):
            raise LanewrightError(
                f"{place} modes: needs one of {' and '.join(MODES)}, or each once"
            )
        at_once = set(asked.together)
        if not at_once <= {*range(2, asked.prompts + 1)} or len(at_once) < len(asked.together):
            raise LanewrightError(
                f"{place} together: needs numbers from 2 to {asked.prompts}, each once"
            )
        if asked.distinct > asked.prompts * asked.tokens:
            raise LanewrightError(
                f"{place}: {asked.prompts} answers of {asked.tokens} tokens cannot hold"
                f" {asked.distinct} different ones",
                hint="ask more, or say in `distinct` how many they must hold",
            )
        most = engine.get("max_model_len")
        # How many tokens a prompt is, the engine tells; one at least.
        if isinstance(most, int) and asked.tokens >= most:
            raise LanewrightError(
                f"{place} tokens: an answer of {asked.tokens} leaves no room for a prompt in"
                f" max_model_len {most}",
                hint="say less there, or more in [engine] max_model_len",
            )
        return asked

    def fewer(self) -> Iterator[str]:
        """Yield where less is asked than by default."""
        if self.prompts < len(PROMPTS):
            yield f"{self.prompts} of {len(PROMPTS)} prompts"
        if self.tokens < MAX_TOKENS:
            yield f"{self.tokens} of {MAX_TOKENS} tokens a prompt"
        if self.distinct < DISTINCT:
            yield f"{self.distinct} distinct tokens needed, not {DISTINCT}"
        if len(self.modes) < len(MODES):
            yield f"only {' and '.join(self.modes)}"


DEFAULT = Asked()
