"""Nights of stand-in lanes, through the real command line."""

from tests.commands.stand_in_lane import lay
from tests.fonts import fonts
from tests.nightly.steps import quick

__all__ = ["fonts", "lay", "quick"]
