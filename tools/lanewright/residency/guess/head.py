"""The trained head: fitted by a lane's Python, which has torch, on what is learned from."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.residency.guess.setting import CannotGuess, Ranks, Setting
from lanewright.serve.child import watch
from lanewright.serve.environment import LaneEnv
from lanewright.serve.makers import INSIDE

SCRIPT = INSIDE / "fit_head.py"
NO_TORCH = 3
# Of the requests that are learned from; they say when to stop.
KEPT_ASIDE = 0.1


@dataclass(frozen=True)
class Fitting:
    """Fits heads in the Python of a lane's base.

    Attributes:
        python: It.
        places: A folder is made in the state for what goes to and fro; it stays where the fit fails.
    """

    python: Path
    places: Places

    def __call__(self, setting: Setting) -> Ranks:
        """Fit on what is learned from, and guess.

        Args:
            setting: Its trace has hidden states.

        Returns:
            int32[N, L, W].

        Raises:
            CannotGuess: That Python has no torch.
            BootError: The fit failed, or made no step for long.
        """
        trace = setting.trace
        fitted, checked = apart(setting)
        # A base has no lane's tree, and the fit needs none.
        env = LaneEnv(python=self.python, site=INSIDE, bytecode=self.places.bytecode)
        self.places.state.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="head-", dir=self.places.state))
        arrays = {
            "hidden": trace.hidden,
            "ids": trace.ids,
            "fitted": fitted,
            "checked": checked,
            "scored": setting.scored,
        }
        for name, numbers in arrays.items():
            np.save(folder / f"{name}.npy", np.asarray(numbers))
        spec = {"experts": trace.experts, "width": setting.width, "seed": setting.seed}
        (folder / "spec.json").write_text(json.dumps(spec))
        with env.running(
            "head", [str(SCRIPT), str(folder)], environ={}, log=folder / "head.log"
        ) as running:
            status = watch(running, seconds=env.patience)
            if status and status != NO_TORCH:
                raise running.died(ended(status))
        if status:
            shutil.rmtree(folder)
            raise CannotGuess(f"{self.python} has no torch")
        found: Ranks = np.load(folder / "ranks.npy", allow_pickle=False).astype(np.int32)
        shutil.rmtree(folder)
        return found


@dataclass(frozen=True)
class NoFitting:
    """Stands where no lane's Python is.

    Attributes:
        why: It is not.
    """

    why: str

    def __call__(self, setting: Setting) -> Ranks:  # noqa: ARG002 - as Fitting
        """Raise CannotGuess, with the reason."""
        raise CannotGuess(self.why)


def apart(setting: Setting) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keep some of the requests that are learned from aside.

    Returns:
        Tokens to fit on, and those that say when to stop; none of one request.
    """
    tokens = np.flatnonzero(setting.learned)
    request = setting.trace.request[tokens]
    names = np.unique(request)
    many = max(1, round(KEPT_ASIDE * len(names))) if len(names) > 1 else 0
    drawn = np.random.Generator(np.random.PCG64(setting.seed)).permutation(names)[:many]
    aside = np.isin(request, drawn)
    return tokens[~aside], tokens[aside]
