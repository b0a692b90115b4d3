"""Python files of wheels, as they are kept outside the tree once they were read from an index."""

import csv
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from email.parser import BytesParser
from functools import cached_property
from pathlib import Path

from packaging.requirements import Requirement

from tests.contract.table import Wheel

PROGRAM = Path(__file__).with_name("from_index.py")
UNAVAILABLE = 69
LONGEST = 540


class UnavailableError(Exception):
    """Neither the cache nor an index has a wheel."""


class Members:
    """Some files of a wheel.

    Args:
        path: Of the small zip.
    """

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._held = frozenset(self._archive.namelist())

    @property
    def names(self) -> frozenset[str]:
        """Paths of those that are here."""
        return self._held

    @cached_property
    def record(self) -> frozenset[str]:
        """Paths of all files of the wheel."""
        rows = csv.reader(self._about("RECORD").decode().splitlines())
        return frozenset(row[0] for row in rows if row)

    def read(self, path: str) -> bytes | None:
        """Read a file; None where the wheel has none.

        Raises:
            KeyError: The wheel has it, and it was not kept.
        """
        if path in self._held:
            return self._archive.read(path)
        if path in self.record:
            raise KeyError(f"{path} is needed, and not below [members] of contract.toml")
        return None

    def requires(self, distribution: str) -> str | None:
        """The version of a distribution that the wheel pins; None where it pins none."""
        metadata = BytesParser().parsebytes(self._about("METADATA"))
        found = map(Requirement, metadata.get_all("Requires-Dist", []))
        pins = [
            each.version
            for one in found
            if one.name == distribution
            for each in one.specifier
            if each.operator == "=="
        ]
        return pins[0] if len(pins) == 1 else None

    def _about(self, name: str) -> bytes:
        path = next(each for each in self._held if each.endswith(f".dist-info/{name}"))
        return self._archive.read(path)


def members_of(
    wheel: Wheel, prefixes: Iterable[str], folder: Path, environment: Mapping[str, str]
) -> Members:
    """Give a wheel's Python files, read from an index where the folder lacks them.

    Args:
        wheel: Which.
        prefixes: Beginnings of their paths.
        folder: Where they are kept.
        environment: With pip's settings.

    Raises:
        UnavailableError: They cannot be had.
        ValueError: What came is damaged, or the program failed.
    """
    wanted = sorted(prefixes)
    digest = hashlib.sha256("\0".join(wanted).encode()).hexdigest()
    kept = folder / f"{wheel.sha256}-{digest[:16]}.zip"
    if not zipfile.is_zipfile(kept):
        command = [sys.executable, str(PROGRAM), wheel.requirement, wheel.platform, wheel.sha256]
        ran = subprocess.run(
            [*command, str(kept), *wanted],
            check=False,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env=dict(environment),
        )
        if ran.returncode == UNAVAILABLE:
            raise UnavailableError(f"{wheel.requirement}: {ran.stderr.splitlines()[-1]}")
        if ran.returncode:
            raise ValueError(f"{wheel.requirement} was not read: {ran.stderr}")
    return Members(kept)
