# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What an adapter takes of a pull request's modules, checked by name before anything is loaded."""

import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from expert_bank.refused import Refused
from expert_bank.seams import Used

Parameter = inspect.Parameter
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Symbols:
    """A module of a pull request.

    Attributes:
        used: Seam and pull request that it serves.
        name: Its dotted name.
        known: What the adapter was written for.
    """

    used: Used
    name: str
    known: str

    def function(self, symbol: str, *parameters: str) -> Callable[..., Any]:
        """Take a function, or a method by its dotted name.

        Args:
            symbol: Its name in the module.
            parameters: Those that the adapter gives it, by place; it may have others with defaults.

        Raises:
            Refused: It is not there, or takes others.
        """
        wanted = f"{symbol}({', '.join(parameters)})"
        found = self.value(symbol, wanted)
        try:
            signature = inspect.signature(found)
        except (TypeError, ValueError):
            raise self.refused(f"{symbol} is no function", wanted) from None
        if not _fits(signature, parameters):
            raise self.refused(f"{symbol} takes {signature}", wanted)
        function: Callable[..., Any] = found
        return function

    def fields(self, symbol: str, *names: str) -> None:
        """See that a dataclass has fields.

        Raises:
            Refused: It is not there, or has not all of them.
        """
        wanted = f"{symbol} with {', '.join(names)}"
        has = getattr(self.value(symbol, wanted), "__dataclass_fields__", {})
        if missing := [name for name in names if name not in has]:
            raise self.refused(f"{symbol} has no {', '.join(missing)}", wanted)

    def value(self, symbol: str, wanted: str) -> Any:  # noqa: ANN401 - theirs
        """Take what a dotted name stands for.

        Raises:
            Refused: The module cannot be imported, or has no such name.
        """
        found: Any = self._module(wanted)
        for part in symbol.split("."):
            found = getattr(found, part, None)
            if found is None:
                raise self.refused(f"there is no {symbol}", wanted)
        return found

    def refused(self, why: str, wanted: str) -> Refused:
        """Say what is wrong, and what the adapter was written for."""
        return Refused(
            f"{self.used.seam} from #{self.used.source}: {self.name}: {why};"
            f" lanewright's adapter was written for {self.known} and wants {wanted}",
            hint=f'say {self.used.seam} = "own" in [seams], or carry a head that fits the adapter',
        )

    def _module(self, wanted: str) -> ModuleType:
        try:
            return importlib.import_module(self.name)
        except Exception as error:
            why = f"cannot be imported ({type(error).__name__}: {error})"
            raise self.refused(why, wanted) from error


def _fits(signature: inspect.Signature, parameters: Sequence[str]) -> bool:
    found = list(signature.parameters.values())
    given, others = found[: len(parameters)], found[len(parameters) :]
    return (
        [each.name for each in given] == list(parameters)
        and all(each.kind in POSITIONAL for each in given)
        and all(each.default is not each.empty or each.kind in OPEN for each in others)
    )
