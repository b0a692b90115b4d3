"""Which run, or which night, a word names."""

from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.history.on_disk import RECORD, RUN, OnDisk, nights_on_disk, runs_on_disk
from lanewright.nightly.night import FILE as NIGHT
from lanewright.places import Places
from lanewright.project import LANE_NAME
from lanewright.serve.record import STAMP_LENGTH
from lanewright.terminal import quoted

LIST = "lanewright history --runs"


def found(places: Places, word: str) -> OnDisk:
    """The run or night that is meant: by its folder's name or path, or by a lane, for its newest run.

    Args:
        places: Has runs and nights.
        word: As typed; a run is also called ``LANE/NAME``.

    Raises:
        LanewrightError: There is none, there are several, or a link leads there.
    """
    runs, nights = runs_on_disk(places), nights_on_disk(places)
    of_lane = [run for run in runs if run.lane == word]
    if of_lane:
        return _unlinked(max(of_lane, key=_age))
    named = [each for each in [*nights, *runs] if word in (each.folder.name, "/".join(each.key))]
    if len(named) > 1:
        others = " and ".join("/".join(each.key) for each in named)
        raise LanewrightError(
            f"{quoted(word)} is a run of several lanes: {others}",
            hint=f"lanewright bundle {quoted('/'.join(named[0].key))}",
        )
    if named:
        return _unlinked(named[0])
    if "/" in word or Path(word).is_dir():
        return _at(Path(word))
    if LANE_NAME.fullmatch(word) and not word[0].isdecimal():
        raise LanewrightError(
            f"lane {word} has no run in {places.state / 'runs'}",
            hint=f"lanewright boot {word}; or another one: {LIST}",
        )
    raise LanewrightError(
        f"there is no run, lane or night {quoted(word)} in {places.state}", hint=LIST
    )


def _at(path: Path) -> OnDisk:
    """The run or night at a path, which need not be of this machine's state."""
    if not path.is_dir():
        raise LanewrightError(f"{path} is no folder of a run or a night", hint=LIST)
    # Whoever types a link means what it leads to.
    folder = path.resolve()
    if (folder / NIGHT).is_file():
        return OnDisk(folder)
    if (folder / RECORD).is_file() or RUN.fullmatch(folder.name):
        return OnDisk(folder, folder.parent.name)
    raise LanewrightError(f"{path} holds neither a run nor a night", hint=LIST)


def _unlinked(one: OnDisk) -> OnDisk:
    if one.linked:
        raise LanewrightError(
            f"a link leads to {one.folder}",
            hint=f"name the folder itself: lanewright bundle {quoted(one.folder.resolve())}",
        )
    return one


def _age(run: OnDisk) -> tuple[str, int, str]:
    """Order by the second in which a run began; a second one in it has a number behind its name."""
    name = run.folder.name
    number = name.rpartition("-")[2] if RUN.fullmatch(name) and name.count("-") > 1 else "1"
    return name[:STAMP_LENGTH], int(number), name
