"""What an image has installed, of the files that are in it: nothing in it is run."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from packaging.utils import canonicalize_name

from lanewright.image.opened.contents import Found

DIST_INFO = re.compile(r"((?:.*/)?([^/]+)-([^/-]+)\.dist-info)/METADATA")
DPKG = re.compile(r"var/lib/dpkg/status(\.d/.*)?")
# A list as pip reads it, each requirement with its hashes on the lines behind it.
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)((?:.*\\\n)*.*)$", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class Distribution(NamedTuple):
    """A Python distribution: its name as indexes have it, its version, and where it is."""

    name: str
    version: str
    path: str


class Package(NamedTuple):
    """A package of Debian's kind."""

    name: str
    version: str
    architecture: str


class System(NamedTuple):
    """What ``os-release`` says: its id, its version, and its name for people."""

    id: str
    version: str
    name: str


def distributions(contents: Mapping[str, Found]) -> list[Distribution]:
    """Every Python distribution whose metadata is in an image, by path."""
    found = []
    for path in sorted(contents):
        if match := DIST_INFO.fullmatch(path):
            folder, name, version = match.groups()
            found.append(Distribution(canonicalize_name(name), version, folder))
    return found


def packages(contents: Mapping[str, Found]) -> list[Package]:
    """Every package that dpkg has installed in an image, by name."""
    found = set[Package]()
    for path, each in contents.items():
        if DPKG.fullmatch(path):
            for fields in _paragraphs(each.text.decode(errors="replace")):
                # Images without dpkg have a file for each package, and those say no status.
                installed = fields.get("Status", "installed").split()[-1:] == ["installed"]
                if installed and fields.get("Package") and fields.get("Version"):
                    name, version = fields["Package"], fields["Version"]
                    found.add(Package(name, version, fields.get("Architecture", "")))
    return sorted(found)


def _paragraphs(text: str) -> Iterator[dict[str, str]]:
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = {}
        for line in paragraph.split("\n"):
            name, colon, value = line.partition(":")
            if colon:
                fields[name] = value.strip()
        yield fields


def system(contents: Mapping[str, Found]) -> System | None:
    """What an image's operating system calls itself; None where it does not say."""
    for path in ("usr/lib/os-release", "etc/os-release"):
        text = contents[path].text.decode(errors="replace") if path in contents else ""
        if text:
            said = dict(_assignments(text))
            # Where there is no id, that is what readers are to take.
            name = said.get("ID") or "linux"
            return System(name, said.get("VERSION_ID", ""), said.get("PRETTY_NAME", name))
    return None


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and not name.startswith("#"):
            try:
                yield name, "".join(shlex.split(value))
            except ValueError:  # a quote that is not closed
                continue


def locked_wheels(requirements: Path) -> dict[tuple[str, str], list[str]]:
    """sha256 of the wheels that a list of requirements allows, by name and version.

    Args:
        requirements: As ``environments/cpu.txt``; it need not be there.
    """
    try:
        text = requirements.read_text()
    except FileNotFoundError:
        return {}
    return {
        (canonicalize_name(name), version): HASH.findall(rest)
        for name, version, rest in LOCKED.findall(text)
    }


def is_site(path: str) -> bool:
    """Whether a distribution's metadata lies where Python looks, not in another's vendored copy."""
    return PurePosixPath(path).parent.name in {"site-packages", "dist-packages"}
