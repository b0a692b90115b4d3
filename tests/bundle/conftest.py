"""Bundles of a stand-in lane's runs."""

from tests.commands.stand_in_lane import lay
from tests.fonts import fonts

__all__ = ["fonts", "lay"]
