"""Which parts of a lane's run are wanted."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.serve.equality.asked import Mode
from lanewright.serve.lane import Lane


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which parts of a run to do.

    Attributes:
        server: Boot the OpenAI server beside the offline engine.
        port: Of the server on 127.0.0.1; a free one when None.
        modes: In which modes to compare with the baseline; in none when empty.
        in_image: Whether the lane runs in its image.
        resume: Take the arms of the comparison that an interrupted run has finished.
        boots: How many engines may be booted, all of them for the comparison; None for one an arm,
            and one before.
    """

    server: bool = True
    port: int | None = None
    modes: Sequence[Mode] = ()
    in_image: bool = False
    resume: bool = False
    boots: int | None = None

    def command(self, lane: Lane) -> str:
        """What to type for a run that compares as much as this one, from the start."""
        where = " --in-image" if self.in_image else ""
        if self.server:
            port = f" --port {self.port}" if self.port else ""
            return f"lanewright boot {lane.lock.lane} --equal{port}"
        whole = tuple(self.modes) == tuple(lane.asked.modes)
        mode = "" if whole else f" --mode {' '.join(self.modes)}"
        boots = f" --boots {self.boots}" if self.boots else ""
        return f"lanewright equal {lane.lock.lane}{where}{mode}{boots}"
