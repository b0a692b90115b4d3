"""A series that lets an entry break a rule, by name."""

from collections.abc import Iterable, Sequence

from lanewright.errors import LanewrightError
from lanewright.invisible import visible
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import change_of
from lanewright.queue.edit.edit import with_entry_value
from lanewright.queue.edit.edited import read_text
from lanewright.queue.guard.rules import check_allowances
from lanewright.queue.inputs import OverlayInput, PullInput
from lanewright.queue.merge.units import OnBase
from lanewright.queue.plan import plan_of


def allowed(
    project: Project,
    places: Places,
    lane: str,
    text: str,
    entries: Iterable[int],
    allow: Sequence[str],
) -> str:
    """The series in which entries may break some rules more.

    Args:
        project: The user's project.
        places: Store and state.
        lane: The lane's name.
        text: The series.
        entries: Which entries, counted from 0; each gets what is of a file that it changes.
        allow: Rules with paths, such as ``bidi:vllm/a.py``.

    Raises:
        LanewrightError: One is no such thing, or of a file that none of them changes.
    """
    check_allowances(allow, f"series/{lane}.toml")
    planned = plan_of(project, lane, read_text(project, lane, text))
    left = dict.fromkeys(allow)
    for index in dict.fromkeys(entries):
        given = planned.inputs[index]
        if isinstance(given, OverlayInput):
            raise LanewrightError(
                f"{given.place}: {given.name} is an overlay, which no rule is for"
            )
        change, _ = change_of(project, places, planned, given)
        paths = {file.path for file in change.diff.files}
        own = [name for name in allow if name.partition(":")[2] in paths]
        left = {name: None for name in left if name not in own}
        if own:
            names = list(dict.fromkeys([*given.choice.allow, *own]))
            text = with_entry_value(text, index, "allow", names)
    if left:
        told = ", ".join(visible(name) for name in left)
        raise LanewrightError(
            f"series/{lane}.toml: {told}: no entry that is named changes that file",
            hint="`lanewright show NUMBER` lists the files of one",
        )
    return text


def still_allowed(given: PullInput, after: OnBase) -> tuple[list[str], list[str]]:
    """What a pull request may do at a new head, too; and what to tell of it, for another look."""
    kept = [name for name in given.choice.allow if name.partition(":")[2] in after.sides]
    told = [
        f"{given.name}: {visible(name)} "
        + ("stays allowed" if name in kept else "is allowed no more: it does not change that file")
        for name in given.choice.allow
    ]
    return kept, told
