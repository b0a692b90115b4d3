"""The text of a carried entry's hunks."""

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.inputs import ChangeInput, PatchInput
from lanewright.queue.lock import LockedEntry
from lanewright.queue.pull.pulls import pull_text
from lanewright.report.hunks import hunk_texts


def carried_texts(
    project: Project, places: Places, given: ChangeInput, entry: LockedEntry
) -> dict[str, str]:
    """What a diff shows of each hunk of an entry, by the hunk's id; empty for one without lines.

    Args:
        project: The user's project.
        places: The store.
        given: The entry as the series has it.
        entry: The same as the lock has it.

    Raises:
        LanewrightError: The change cannot be had or shown.
    """
    texts = hunk_texts(_diff_text(project, places, given), entry.source, entry.hunks)
    return {hunk.id: text for hunk, text in zip(entry.hunks, texts, strict=True)}


def _diff_text(project: Project, places: Places, given: ChangeInput) -> bytes:
    """An entry's change as git prints it."""
    if isinstance(given, PatchInput):
        return given.patch.path.read_bytes()
    return pull_text(project, places, given.base, given.head)
