"""A bundle: what was gathered without what is private, told in front, with a digest of each file."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lanewright.bundle.cleaning import cleaned
from lanewright.bundle.comment import comment_of, told_of
from lanewright.bundle.gathering import Gathered, gathered
from lanewright.bundle.looking import Sight, looked_through
from lanewright.bundle.parts import LeftOut, Part
from lanewright.bundle.private import TAKEN, Private, private
from lanewright.history.on_disk import OnDisk
from lanewright.places import Places
from lanewright.project import Project
from lanewright.report.markdown import report_markdown
from lanewright.report.marks import plain, table
from lanewright.terminal import printable

README, MANIFEST = "README.md", "MANIFEST.sha256"
# The first line of every bundle, by which one is known.
TITLE = "# lanewright bundle: "
WORDS = {
    "~": "a user's home folder",
    "PROJECT": "the project's folder",
    "STATE": "lanewright's state folder",
    "STORE": "lanewright's cache folder",
    "USER": "a user's name",
    "HOST": "the machine's name",
    TAKEN: "a password, a token or a key",
}


class Packed(msgspec.Struct, frozen=True):
    """A file of a bundle.

    Attributes:
        name: With ``/`` between its parts.
        bytes: Its size.
        sha256: Of its content.
        cut: How many bytes of its middle were left out.
        replaced: How often each word took the place of what is private.
    """

    name: str
    bytes: int
    sha256: str
    cut: int = 0
    replaced: dict[str, int] = {}


@dataclass(frozen=True)
class Made:
    """A bundle.

    Attributes:
        name: Of its archive and its top folder.
        parts: Files, as they are packed.
        files: The same, told.
        left_out: What is not in it, and why.
        look: What looks private still.
    """

    name: str
    parts: list[Part]
    files: list[Packed]
    left_out: list[LeftOut]
    look: list[Sight]


def made(places: Places, project: Project | None, one: OnDisk) -> Made:
    """Make a bundle in memory.

    Args:
        places: Store and state.
        project: The user's project, if there is one.
        one: The run or night that it is of.

    Raises:
        LanewrightError: It is a night that cannot be read.
    """
    found, hidden = _found(places, project, one)
    clean, replaced, left_out = _clean(hidden, found)
    told, counts = _clean_text(hidden, told_of(found))
    readme = "\n".join([f"{TITLE}{found.name}", "", told, *_contents(clean, replaced, left_out)])
    first = Part(README, readme.encode())
    files = [
        Packed(
            part.name,
            len(part.content),
            hashlib.sha256(part.content).hexdigest(),
            part.cut,
            dict(replaced.get(part.name, counts)),
        )
        for part in (first, *clean)
    ]
    manifest = "".join(f"{each.sha256}  {each.name}\n" for each in files).encode()
    parts = [first, Part(MANIFEST, manifest), *clean]
    # What its first file says is told of the others.
    return Made(found.name, parts, files, left_out, looked_through(clean))


def made_comment(places: Places, project: Project | None, one: OnDisk) -> tuple[str, list[Sight]]:
    """The same as a comment, without an archive, and what looks private in it.

    Raises:
        LanewrightError: It is a night that cannot be read.
    """
    found, hidden = _found(places, project, one)
    text, _ = _clean_text(hidden, comment_of(found))
    return text, looked_through([Part("comment", text.encode())])


def _found(places: Places, project: Project | None, one: OnDisk) -> tuple[Gathered, Private]:
    found = gathered(places, project, one)
    hidden = private(places, project, found.roots)
    return cleaned(hidden, found), hidden


def _clean(
    hidden: Private, found: Gathered
) -> tuple[list[Part], dict[str, Mapping[str, int]], list[LeftOut]]:
    """Files without what is private, how often each word is in each instead, and what is left out."""
    clean: list[Part] = []
    replaced: dict[str, Mapping[str, int]] = {}
    left_out = [*found.left_out]
    reports = [
        Part(f"reports/{lane}.md", report_markdown(report).encode() + b"\n")
        for lane, report in found.reports.items()
    ]
    for part in sorted([*found.parts, *reports], key=lambda part: part.name):
        name, _ = _clean_text(hidden, part.name)
        content, counts = hidden.replaced(part.content)
        if name in replaced:
            left_out.append(LeftOut(name, "another file has the same name without what is private"))
        elif counts and name.endswith(".parquet"):
            left_out.append(LeftOut(name, "it holds what is private, and is no text"))
        else:
            clean.append(Part(name, content, part.cut))
            replaced[name] = counts
    return clean, replaced, left_out


def _clean_text(hidden: Private, text: str) -> tuple[str, dict[str, int]]:
    content, counts = hidden.replaced(printable(text).encode())
    return content.decode(), counts


def _contents(
    parts: list[Part], replaced: Mapping[str, Mapping[str, int]], left_out: list[LeftOut]
) -> list[str]:
    rows = [
        (part.name, f"{len(part.content)}", "; ".join(_changes(part, replaced[part.name])))
        for part in parts
    ]
    words = dict.fromkeys(word for counts in replaced.values() for word in counts)
    lines = ["## What is in it", ""]
    lines += table(("file", "bytes", "changed here"), (map(plain, row) for row in rows))
    lines += [
        "",
        "Left out:",
        "",
        *[f"- {plain(each.name)}: {plain(each.why)}" for each in left_out],
    ]
    lines += [] if left_out else ["- nothing"]
    lines += ["", "In place of what is private there is:", ""]
    lines += [f"- `{word}`: {WORDS[word]}" for word in WORDS if word in words] or ["- nothing"]
    return [*lines, READING]


def _changes(part: Part, counts: Mapping[str, int]) -> list[str]:
    cut = [f"{part.cut} bytes of its middle cut out"] if part.cut else []
    return cut + [f"{count} {word}" for word, count in counts.items()]


READING = f"""
## How to read it again

`tar -xzf FILE`, then `sha256sum --check {MANIFEST}` in the folder that this makes. `runs/LANE/RUN/record.json`
is the record of a run, `reports/LANE.md` what became of every hunk (`.json`: the same as data), `*.log` what engines
and steps said, `equality/` every answer. With the project and a lock of it, `lanewright build LANE` gives the same
tree id, and `lanewright boot --equal LANE` holds its answers against the unpatched pin's again.
"""


def default_file(name: str) -> Path:
    """Where a bundle is written where nothing else is said: in this folder."""
    return Path(f"{name}.tar.gz")
