# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How fast the map follows traffic: what may be set while the engine runs."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from expert_bank.refused import Refused, shortened
from expert_bank.sizes import parse_size

_NUMBER = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?", re.ASCII)
# What no setting reaches: whole numbers are exact as floats up to there.
BEYOND = 2**53
# What may be 0, and then sets no bound.
_FROM_NONE = ("ratio", "margin", "noise", "residence", "tokens_per_swap")


@dataclass(frozen=True)
class Pace:
    """The policy's settings. All tokens are scheduled ones.

    Attributes:
        every: N, forwards from one barrier to the next.
        swaps: Of one layer at one barrier, at most.
        tokens_per_swap: A layer gets one swap in so many, on average; 0 for no bound.
        half_life: Tokens after which a pick counts half.
        ratio: A cold expert's score must be above so many times its victim's,
        margin: and so many picks above that,
        noise: and above it by so many standard deviations, of what the difference of the two scores
            would be were the picks of each expert drawn at random.
        residence: Tokens that an expert stays where it was last put.
        window: Tokens over which the guard weighs the moving map against the boot map.
        bytes: That one barrier may copy; None for no bound.
        seconds: That one barrier may take; the same.
    """

    every: int = 64
    swaps: int = 2
    tokens_per_swap: int = 256
    half_life: int = 2048
    ratio: float = 1.25
    margin: float = 4.0
    noise: float = 6.0
    residence: int = 1024
    window: int = 2048
    bytes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is None and name in ("bytes", "seconds"):
                continue
            whole = isinstance(_DEFAULTS[name], int) or name == "bytes"
            said = f"moe_follow: {name} is {shortened(value)}"
            if type(value) is not int and (whole or type(value) is not float):
                raise Refused(f"{said}, and must be a {_kind(whole)}")
            if name in _FROM_NONE and not 0 <= value < BEYOND:
                raise Refused(f"{said}, and must be 0 or more and below 2**53")
            if not 0 <= value < BEYOND or (not value and name not in _FROM_NONE):
                raise Refused(f"{said}, and must be above 0 and below 2**53")
        if self.ratio < 1:
            raise Refused(f"moe_follow: ratio is {self.ratio}; below 1 two experts would alternate")

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read ``64``, or ``every=64,swaps=2,bytes=1GiB``; None where it is empty.

        Raises:
            Refused: It names no setting, or no number.
        """
        if not text.strip():
            return None
        found: dict[str, Any] = {}
        for part in text.split(","):
            name, equals, value = (each.strip() for each in part.partition("="))
            if not equals and name:
                name, value = "every", name
            if name not in _DEFAULTS or name in found:
                raise Refused(
                    f"moe_follow {shortened(text)}: {shortened(name)} is no setting, or there twice",
                    hint=f"there are {', '.join(_DEFAULTS)}",
                )
            found[name] = _read(text, name, value)
        return cls(**found)

    def changed(self, settings: Mapping[str, object]) -> Self:
        """Give the same with some settings changed.

        Raises:
            Refused: One is not there, or no number that it can be.
        """
        if unknown := [each for each in settings if each not in _DEFAULTS]:
            raise Refused(
                f"moe_follow: no setting {shortened(unknown)}",
                hint=f"there are {', '.join(_DEFAULTS)}",
            )
        return type(self)(**{**asdict(self), **settings})


_DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Pace)}


def _kind(whole: bool) -> str:  # noqa: FBT001 - what it is called by
    return "whole number" if whole else "number"


def _read(text: str, name: str, value: str) -> int | float:
    if name == "bytes" and (size := parse_size(value)) is not None:
        return size
    if not _NUMBER.fullmatch(value):
        raise Refused(
            f"moe_follow {shortened(text)}: {name} is {shortened(value)}, and must be a number"
        )
    return float(value) if "." in value else int(value)
