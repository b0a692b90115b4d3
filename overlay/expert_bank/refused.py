# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The one error by which the two-bank says no."""


class Refused(RuntimeError):  # noqa: N818 - it says what happened, not that something broke
    """The two-bank will not do what was asked, and says why before anything is changed.

    Attributes:
        hint: What would be done instead, or what to change; empty where nothing is known.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n{self.hint}" if self.hint else message
