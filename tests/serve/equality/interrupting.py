"""Comparisons of one stand-in, one after the other, some of which do not come to their end."""

import copy
import json
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.child import BootError
from lanewright.serve.equality.asked import Asked
from lanewright.serve.equality.run import Equality, equality
from tests.serve.equality.fresh import TREE, fresh
from tests.serve.stand_in import lay_pin, lay_stand_in

BANKS: Mapping[str, object] = {"moe_hot_experts": "5"}
ASKED = Asked(prompts=6, tokens=12, distinct=40, together=(3,), modes=("eager",))
PIN = ("eager.baseline", "eager.self")
LANE = ("eager.off", "eager.on", "eager.swaps", "eager.follows", "eager.mapped")
# The last arm's engine does not come up; all arms finish, and then vLLM's process fails.
MAPLESS, LATE = {"mapless": True}, {"late": 3}


class Runs:
    """A lane with two banks, its pin, and the runs of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pin = lay_pin(folder / "pin")
        self.lane = lay_stand_in(folder)
        self.first = fresh(folder)

    def compared(
        self,
        name: str,
        *,
        resume: bool = False,
        lies: Mapping[str, Any] | None = None,
        asked: Asked = ASKED,
        tree: str = TREE,
        boots: int | None = None,
    ) -> Equality:
        """Compare in the run of that name, with these lies of the lane's site."""
        (self.lane.site / "lies.json").write_text(json.dumps(lies or {}))
        self.answers(name).parent.mkdir(parents=True)
        with ExitStack() as after_record:
            return equality(
                self.pin,
                self.lane,
                baseline=TREE,
                model=self.folder / "model",
                engine=BANKS,
                folder=self.answers(name),
                device="cpu",
                modes=asked.modes,
                resuming=replace(self.first, asked=resume, tree=tree),
                after_record=after_record,
                asked=asked,
                boots=boots,
            )

    def interrupted(self, name: str, lies: Mapping[str, Any] = LATE, **more: Any) -> None:  # noqa: ANN401
        """A run whose lane ends its process before the answers are compared."""
        with pytest.raises(BootError):
            self.compared(name, lies=lies, **more)

    def elsewhere(self, folder: Path, *names: str) -> "Runs":
        """The same lane with a folder of its own for runs, of which these were before."""
        other = copy.copy(self)
        other.first = fresh(folder)
        for name in names:
            shutil.copytree(self.first.runs / name, other.first.runs / name)
        return other

    def answers(self, name: str) -> Path:
        """Folder of a run's answers."""
        return self.first.runs / name / "equality"

    def booted(self, name: str) -> list[str]:
        """Engines that a run booted, or was to boot."""
        specs = [self.answers(name) / f"{side}.spec.json" for side in ("pin", "lane")]
        read = [json.loads(spec.read_text()) for spec in specs if spec.exists()]
        return [arm["name"] for spec in read for arm in spec["arms"]]

    def noted(self) -> list[str]:
        """Arms that are noted as finished, behind their runs."""
        notes = sorted(self.first.runs.glob("*/equality/*.finished.json"))
        return [
            f"{each.parents[1].name} {each.name.removesuffix('.finished.json')}" for each in notes
        ]
