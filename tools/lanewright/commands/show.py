"""``lanewright show``: an entry's hunks, as a person reads them."""

from unidiff.patch import PatchedFile, PatchSet

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import plan
from lanewright.queue.inputs import PatchInput
from lanewright.queue.lock import HunkState, LockedEntry, read_lock
from lanewright.queue.quoting import unquote
from lanewright.report.outcome import in_one_line
from lanewright.terminal import emit, emit_json, printable


def run(project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Print what the lock says of each entry, or the text of chosen hunks."""
    lane = lane_of(project, arguments)
    project.series_file(lane)  # there must be such a lane before it can lack a lock
    lock = read_lock(project.lock_file(lane))
    if lock is None:
        raise LanewrightError(f"lane {lane} has no lock yet", hint=f"lanewright build {lane}")
    name, _, rest = (arguments.entry or "").partition(":")
    entries = [entry for entry in lock.entries if name in {"", entry.name}]
    if not entries:
        known = ", ".join(entry.name for entry in lock.entries)
        raise LanewrightError(f"lane {lane} has no entry {name!r} (it has: {known})")
    if arguments.json:
        emit_json(entries)
        return ExitCode.CLEAN
    for entry in entries:
        emit(f"{entry.name} ({entry.source}): {in_one_line(entry)}")
        if entry.kind == "overlay":
            emit("\n".join(f"  {path}" for path in entry.files))
        elif name:
            emit(_texts(project, lane, entry, rest))
        else:
            emit("\n".join(f"  {_line(hunk)}" for hunk in entry.hunks))
    return ExitCode.CLEAN


def _line(hunk: HunkState) -> str:
    where = f" in {hunk.symbol}" if hunk.symbol else ""
    return f"{printable(hunk.path)}:{hunk.id}{where}  {hunk.outcome}"


def _path(file: PatchedFile) -> str:
    """The file's path; unidiff's own keeps git's quotes."""
    name = file.source_file if file.target_file == "/dev/null" else file.target_file
    return unquote(name.encode()).partition("/")[2]


def _texts(project: Project, lane: str, entry: LockedEntry, chosen: str) -> str:
    """Each chosen hunk under a line that names it."""
    given = next((i for i in plan(project, lane).inputs if i.name == entry.name), None)
    if not isinstance(given, PatchInput) or given.digest != entry.digest:
        raise LanewrightError(
            f"{entry.source} changed since the lock was written", hint=f"lanewright build {lane}"
        )
    path, _, wanted = chosen.partition(":")
    text = given.patch.path.read_bytes().decode("utf-8", "replace")
    shown = {_path(file): [str(hunk) for hunk in file] for file in PatchSet(text)}
    lines: list[str] = []
    seen: dict[str, int] = {}
    for hunk in entry.hunks:
        number = seen.setdefault(hunk.path, 0)
        if hunk.lines not in {"mode", "file"}:
            seen[hunk.path] += 1
        if path in {"", hunk.path} and hunk.id.startswith(wanted):
            lines.append(_line(hunk))
            if hunk.lines not in {"mode", "file"}:
                lines.append(shown[hunk.path][number])
    if not lines:
        raise LanewrightError(
            f"{entry.name} has no hunk {chosen!r}", hint=f"lanewright show {lane} {entry.name}"
        )
    return "\n".join(lines)
