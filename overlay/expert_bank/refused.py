# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The one error that a bank is refused with, and others in words."""

from reprlib import Repr

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Refused(RuntimeError):  # noqa: N818 - it is a verdict, and reads so where it is caught
    """A bank cannot be as it was asked for.

    Attributes:
        message: What was asked, what there is, and the arithmetic between them.
        hint: What to change; empty where nothing is known.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


def shortened(value: object) -> str:
    """Write what came from outside, for a message: as Python has it, and never long."""
    return _SHORT.repr(value)


def worded(error: Exception) -> str:
    """Tell an error by its kind and text; ours, by its text alone."""
    return str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
