"""What a CPU lane's base is made of, and where the store has it."""

from pathlib import Path

from lanewright.places import Places
from lanewright.project import Project


def base_image(project: Project, places: Places, lane: str) -> Path | None:  # noqa: ARG001 - not made yet
    """The layout of a lane's base; None where it is not made."""
    return None
