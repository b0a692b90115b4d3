"""The programs that make models of recipes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INSIDE = Path(__file__).parent / "inside"
DRAWN = "make_model.py"


@dataclass(frozen=True)
class Maker:
    """A program that the lane's Python runs.

    Attributes:
        script: What is run, with the recipe's file and the folder to fill.
        beside: Scripts and folders of modules that it imports, below the script's own folder.
    """

    script: Path
    beside: tuple[str, ...]

    def sources(self) -> list[Path]:
        """All files that say what it makes."""
        found = [self.script]
        for name in self.beside:
            place = INSIDE / name
            found += [place] if place.is_file() else sorted(place.glob("*.py"))
        return found


def maker_of(recipe: Mapping[str, Any]) -> Maker:
    """Choose the program that follows a recipe."""
    if "widens" in recipe:
        return Maker(INSIDE / "widen_model.py", ("making",))
    if "training" in recipe:
        return Maker(INSIDE / "train_model.py", (DRAWN, "making", "training"))
    return Maker(INSIDE / DRAWN, ("making",))
