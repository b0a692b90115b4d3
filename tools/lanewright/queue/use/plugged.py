"""``[seams]`` of a series: whose code is used at each seam."""

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.series import EntrySpec, Series, name_of
from lanewright.queue.use.lines import pr_lines
from lanewright.queue.use.prfile import pr_file
from lanewright.queue.use.seams import OWN, SEAMS


def require_plugged(project: Project, lane: str, series: Series) -> None:
    """See that what ``[seams]`` names is there and fits.

    Raises:
        LanewrightError: There is no such seam, the entry is not carried, or nothing says that it
            provides that seam.
    """
    entries = {name_of(entry): entry for entry in series.entry}
    for seam, name in series.seams.items():
        place = f"series/{lane}.toml: [seams] {seam}"
        if seam not in SEAMS:
            raise LanewrightError(f"{place}: there is no such seam (seams: {', '.join(SEAMS)})")
        if name == OWN:
            _require_overlay(series, place)
        elif name not in entries:
            raise LanewrightError(
                f"{place}: the lane carries no entry {name!r} (it has: {', '.join(entries) or 'none'})",
                hint=f"name one of those, or {OWN!r}, or take {seam} out of [seams]",
            )
        else:
            _require_provided(project, seam, name, entries[name], place)


def _require_overlay(series: Series, place: str) -> None:
    if not any(entry.overlay for entry in series.entry):
        raise LanewrightError(
            f"{place}: {OWN!r} is our overlay, and the lane carries none",
            hint='add an entry with overlay = "expert_bank"',
        )


def _require_provided(project: Project, seam: str, name: str, entry: EntrySpec, place: str) -> None:
    if entry.pull is None:
        raise LanewrightError(f"{place}: {name} is no pull request, and only those provide seams")
    known = pr_file(project, entry.pull)
    if known is None:
        raise LanewrightError(
            f"{place}: nothing is known of #{entry.pull}, so nothing says that it provides that;"
            f" this would\n{pr_lines(entry.pull, seam)}",
            hint=f"write these lines, or name another entry here, or take {seam} out of [seams]",
        )
    if seam not in known.provides:
        provided = ", ".join(known.provides)
        raise LanewrightError(
            f"{place}: patches/{entry.pull}/pr.toml does not say that #{entry.pull} provides it"
            f" (it says: {provided or 'none'})",
            hint=f"name {seam} in its `provides`, with the source, or another entry here",
        )
