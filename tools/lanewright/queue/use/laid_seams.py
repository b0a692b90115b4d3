"""The choice at each seam, laid into the lane's tree with our overlay, where its workers read it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.inputs import OverlayInput
from lanewright.queue.overlay import OverlayFile, digest
from lanewright.queue.series import Series, name_of
from lanewright.queue.use.prfile import pr_file
from lanewright.queue.use.seams import ADAPTERS, BANK_SEAMS, OVERLAY, OWN, SEAMS_FILE

ADAPTER = re.compile(rf"{ADAPTERS}pr(\d+)\.py", re.ASCII)


def with_seams(project: Project, lane: str, series: Series, given: OverlayInput) -> OverlayInput:
    """Add the file that names pull requests at seams; nothing where all is our own.

    Args:
        project: The user's project.
        lane: The lane's name.
        series: What it is to be; its seams are checked already.
        given: An overlay of it; only our own package gets the file.

    Raises:
        LanewrightError: The overlay has such a file already, or no adapter for what is named.
    """
    chosen = dict(_chosen(project, series))
    if given.source != f"overlay/{OVERLAY}" or not chosen:
        return given
    laid = {file.path for file in given.files}
    if SEAMS_FILE in laid:
        raise LanewrightError(
            f"{given.place} ({given.name}): overlay/{SEAMS_FILE} is made from [seams], not written",
            hint="remove that file",
        )
    known = {found[1] for path in laid if (found := ADAPTER.fullmatch(path))}
    for seam, pull in chosen.items():
        if seam in BANK_SEAMS and pull["adapter"] not in known:
            raise _without_adapter(lane, seam, pull, sorted(known))
    content = json.dumps(chosen, indent=1, sort_keys=True).encode() + b"\n"
    more = OverlayFile(SEAMS_FILE, "100644", content)
    files = sorted([*given.files, more], key=lambda file: file.path)
    return replace(given, files=tuple(files), digest=digest(files))


def _chosen(project: Project, series: Series) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield seams that are not our own, each with its pull request and whose adapter fits that."""
    pulls = {name_of(entry): entry.pull for entry in series.entry if entry.pull is not None}
    for seam, name in series.seams.items():
        if name != OWN:
            known = pr_file(project, pulls[name])
            adapter = (known.adapter if known else None) or pulls[name]
            yield seam, {"from": str(pulls[name]), "adapter": str(adapter)}


def _without_adapter(
    lane: str, seam: str, pull: dict[str, str], known: list[str]
) -> LanewrightError:
    number, adapter = pull["from"], pull["adapter"]
    return LanewrightError(
        f"series/{lane}.toml: [seams] {seam}: overlay/{OVERLAY} has no adapter for #{adapter}"
        f" (it has: {', '.join(known) or 'none'})",
        hint=f"say in patches/{number}/pr.toml whose adapter fits (`adapter = NUMBER`), write"
        f" overlay/{ADAPTERS}pr{adapter}.py, or name {OWN!r} here",
    )
