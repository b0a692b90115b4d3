"""``lanewright nightly``: what the night brought, of every lane."""

import os
from pathlib import Path

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.history.taking_in import take_in
from lanewright.nightly.annotating import annotations
from lanewright.nightly.compared import runs_of
from lanewright.nightly.hook import notify
from lanewright.nightly.night import Night
from lanewright.nightly.running import lock_of, restore_left, run_night
from lanewright.nightly.told import markdown, text
from lanewright.page.making import default_place, write_page
from lanewright.places import Places
from lanewright.project import Project
from lanewright.store.locking import held
from lanewright.terminal import emit_json, emit_lines, say, say_command
from lanewright.workflow import on_github

# Where GitHub has a job's page.
SUMMARY = "GITHUB_STEP_SUMMARY"


def run(project: Project | None, places: Places, arguments: Arguments) -> ExitCode:
    """Spend a night, tell of it, and end with the worst that there was; or only restore what one stopped."""
    if project is None:  # --restore, which does without one
        with held(lock_of(places), "spends a night"):
            restore_left(places)
        return ExitCode.CLEAN
    lanes = arguments.lanes or project.upstream.nightly.lanes or [project.upstream.default_lane]
    folder, night = run_night(project, places, lanes, resume=arguments.resume)
    keep(places)
    runs = runs_of(places, night)
    if page := os.environ.get(SUMMARY):
        _append(Path(page), markdown(night, folder, runs) + "\n")
    _write_page(project, places)
    if command := project.upstream.nightly.notify:
        notify(command, folder, project.root)
    if arguments.json:
        emit_json(night)
    else:
        emit_lines(text(night, folder, runs))
    if on_github():
        _annotate(project, night, folder)
    say(f"night: {folder}")
    return ExitCode(night.worst())


def _annotate(project: Project, night: Night, folder: Path) -> None:
    """Have GitHub show what did not pass beside the files; what fails there fails no night."""
    try:
        lines = annotations(project, night, folder)
    except (LanewrightError, OSError) as error:
        say(f"annotations: not made: {error}")
        return
    # Not among the data.
    for line in lines:
        say_command(line)


def _append(page: Path, words: str) -> None:
    """Tell of the night on a job's page; what fails there fails no night."""
    try:
        with page.open("a", encoding="utf-8") as summary:
            summary.write(words)
    except OSError as error:
        say(f"{SUMMARY}: {page} cannot be written: {error.strerror}")


def keep(places: Places) -> None:
    """Take the night into the history; what fails there fails no night."""
    try:
        take_in(places)
    except (LanewrightError, OSError) as error:
        say(f"the night is not in the history: {error}")
        say("  next: lanewright history")


def _write_page(project: Project, places: Places) -> None:
    """Write the page before anybody is told, so that it can be published then; it fails no night."""
    try:
        made = write_page(project, places, default_place(places))
    except Exception as error:  # noqa: BLE001 - what a night came to is worth more than its page
        say(f"page: not written: {type(error).__name__}: {error}\n  next: lanewright page")
    else:
        if made.fault:
            say(f"page: without trends, for the history tells nothing: {made.fault}")
        say(f"page: {made.folder / 'index.html'}")
