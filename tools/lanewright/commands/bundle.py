"""``lanewright bundle``: what a run or a night left behind, in one archive to attach in public."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lanewright.bundle.finding import found
from lanewright.bundle.looking import Sight
from lanewright.bundle.making import Made, default_file, made, made_comment
from lanewright.bundle.packing import packed, require_ours, write
from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.report.outcome import counted
from lanewright.report.shown import in_a_line
from lanewright.terminal import emit, emit_json, say
from lanewright.workflow import harmless

# What looks private is shown so often, of each kind.
MOST_SHOWN = 20
# Bytes that GitHub takes of a file that is attached to a comment.
GITHUB = 25_000_000


def run(project: Project | None, places: Places, arguments: Arguments) -> ExitCode:
    """Write a bundle, or print its comment, and say what a person has to look at before it is public.

    Raises:
        LanewrightError: There is no such run or night, or something else is where it is written to.
    """
    one = found(places, arguments.of)
    if arguments.comment:
        text, look = made_comment(places, project, one)
        emit(harmless(text), always_utf8=True)
        _say_look(look)
        return ExitCode.CLEAN
    if arguments.out is not None and arguments.out.is_dir():
        raise LanewrightError(f"{arguments.out} is a folder", hint="name a file: --out FILE")
    bundle = made(places, project, one)
    file = arguments.out or default_file(bundle.name)
    require_ours(file)
    content = packed(bundle)
    write(file, content)
    if arguments.json:
        facts = {"file": file.absolute(), "bytes": len(content)}
        digest = hashlib.sha256(content).hexdigest()
        told = {"files": bundle.files, "left_out": bundle.left_out, "look": bundle.look}
        emit_json({**facts, "sha256": digest, **told})
    else:
        emit(str(file))
    _say(bundle, file, len(content))
    return ExitCode.CLEAN


def _say(bundle: Made, file: Path, size: int) -> None:
    for each in bundle.files:
        if each.cut:
            say(in_a_line(f"cut: {each.name}: {each.cut} bytes of its middle"))
    for left in bundle.left_out:
        say(in_a_line(f"left out: {left.name}: {left.why}"))
    for each in bundle.files:
        if each.replaced:
            told = ", ".join(f"{count} {word}" for word, count in each.replaced.items())
            say(in_a_line(f"replaced: {each.name}: {told}"))
    _say_look(bundle.look)
    say(f"bundle: {counted(len(bundle.files), 'file')}, {size} bytes")
    if size > GITHUB:
        say(f"  {file} is larger than what GitHub takes, {GITHUB} bytes")


def _say_look(look: Sequence[Sight]) -> None:
    shown: Counter[str] = Counter()
    for each in look:
        shown[each.what] += 1
        if shown[each.what] <= MOST_SHOWN:
            text = f": {each.text}" if each.text else ""
            more = f" ({each.times} times)" if each.times > 1 else ""
            say(in_a_line(f"look: {each.file}:{each.line}: {each.what}{text}{more}"))
    for what, count in shown.items():
        if count > MOST_SHOWN:
            say(f"look: {count - MOST_SHOWN} more of this kind: {what}; --json has all")
    if look:
        say("  look at these before anybody else does")
