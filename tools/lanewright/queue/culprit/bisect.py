"""The smallest set of a lane's parts that makes a command fail: entries, then files, then hunks."""

from dataclasses import dataclass

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.culprit.judge import Environ, Judge, of_caller
from lanewright.queue.culprit.moving import MovingSite
from lanewright.queue.culprit.parts import (
    Piece,
    Pieces,
    pieces_of,
    told,
)
from lanewright.queue.culprit.smallest import less, smallest
from lanewright.queue.culprit.trials import Trials
from lanewright.queue.lock import Lock
from lanewright.queue.plan import Plan
from lanewright.store.companions import companions
from lanewright.store.git import Repository
from lanewright.store.scratch import making
from lanewright.terminal import printable, say


@dataclass(frozen=True)
class Found:
    """A set of parts that is bad.

    Attributes:
        pieces: The parts; without any one of them the set is good, if that could be told.
        untold: By part for which it could not be told, why.
        remedy: What the lane is good without: one part of the set if that is enough, else all;
            empty where it is not good without them either.
        tries: How many sets were tried.
        of: How many parts the lane has.
    """

    pieces: Pieces
    untold: dict[Piece, str]
    remedy: Pieces
    tries: int
    of: int


def bisect(
    project: Project,
    places: Places,
    planned: Plan,
    lock: Lock,
    command: str,
    environ: Environ = of_caller,
) -> Found:
    """Find the smallest set of a lane's parts with which a command fails.

    Nothing of the project and no ref of the store is touched.

    Args:
        project: The user's project.
        places: Store and state.
        planned: The lane.
        lock: What it came to; up to date.
        command: A line for ``sh`` that judges each tree.
        environ: What the command gets.

    Raises:
        LanewrightError: The lane is not bad with all parts, or not good without any; a source
            cannot be had; the command gave no verdict.
        MismatchError: The parts do not give the lock's tree.
    """
    pieces = pieces_of(project, places, planned, lock)
    if not pieces:
        raise LanewrightError(f"lane {lock.lane} carries nothing that could be left out")
    beside = companions(places, lock.pin.release)
    with making(places.bisects) as scratch:
        site = MovingSite(scratch / "tree", Repository(places.objects), beside)
        judge = Judge(command, project.root, scratch, site, environ)
        trials = Trials(project, places, planned, pieces, judge)
        _require_ends(trials, lock)
        try:
            return _smallest(trials)
        except BaseException:
            _say_known(trials)
            raise


def _require_ends(trials: Trials, lock: Lock) -> None:
    """See that the lane is bad and its pin good; between those something can be found."""
    whole = trials.judged(trials.pieces, f"all {len(trials.pieces)} parts")
    if whole.tree and whole.tree != lock.tree:
        raise MismatchError(
            f"lane {lock.lane}: its parts give tree {whole.tree}, and the lock says {lock.tree}",
            hint=f"lanewright verify {lock.lane} --lock",
        )
    if whole.verdict != "bad":
        raise LanewrightError(
            f"lane {lock.lane} with all its parts is {whole.verdict}, not bad, so there is nothing"
            " to look for",
            hint="see that the command fails on the lane as it is: it must end with 1",
        )
    none = trials.judged((), f"none of them, {lock.pin.ref} alone")
    if none.verdict != "good":
        raise LanewrightError(
            f"lane {lock.lane}: its unpatched pin {lock.pin.ref} is {none.verdict}, not good, so no"
            " part of the lane is to blame",
            hint="see that the command ends with 0 on the pin, which has none of the overlays; what"
            " is bad there, too, is upstream's or the command's",
        )


def _smallest(trials: Trials) -> Found:
    left = smallest(trials)
    without = {
        piece: trials.judged(less(left, piece), f"those without {piece.part}") for piece in left
    }
    untold = {piece: each.why for piece, each in without.items() if each.verdict == "untestable"}
    return Found(left, untold, _remedy(trials, left), len(trials.known), len(trials.pieces))


def _remedy(trials: Trials, found: Pieces) -> Pieces:
    """What the lane is good without."""
    for piece in found:
        what = f"the lane without {piece.part}"
        if trials.judged(less(trials.pieces, piece), what).verdict == "good":
            return (piece,)
    rest = [piece for piece in trials.pieces if piece not in found]
    what = f"the lane without those {len(found)}"
    return found if trials.judged(rest, what).verdict == "good" else ()


def _say_known(trials: Trials) -> None:
    """Say what is known where the search cannot go on."""
    bad = trials.smallest or trials.pieces
    say(
        f"known after {len(trials.known)} tries: bad with {len(bad)} of {len(trials.pieces)} parts:"
    )
    for name in told(bad, trials.pieces):
        say(f"  {printable(name)}")
