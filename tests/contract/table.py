"""What the glue's text cannot tell, from ``contract.toml`` beside this file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contract.kinds import PLAIN, Kind, Theirs

FILE = Path(__file__).with_name("contract.toml")
PLAIN_KIND = "plain"


@dataclass(frozen=True)
class Wheel:
    """One wheel on the package index.

    Attributes:
        requirement: ``name==version``.
        platform: Tag that it is asked for by.
        sha256: Of the whole wheel.
    """

    requirement: str
    platform: str
    sha256: str

    @property
    def version(self) -> str:
        return self.requirement.partition("==")[2]


@dataclass(frozen=True)
class Scan:
    """Where upstream calls what we override or replace.

    Attributes:
        of: ``Class.method``.
        files: Paths in the wheel, or their beginnings.
        receiver: Pattern of what stands before the method's name, or of the whole callee.
        within: Class that the calls are in; any where empty.
        passing: A keyword by which the calls are known; none where empty.
    """

    of: str
    files: tuple[str, ...]
    receiver: str
    within: str = ""
    passing: str = ""


class Table:
    """``contract.toml``, its short names of classes written out."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.classes: dict[str, str] = dict(content.get("classes", {}))
        self.wheels = tuple(Wheel(**each) for each in content.get("wheel", ()))
        self.members: dict[str, list[str]] = dict(content.get("members", {}))
        self.roots: dict[str, dict[str, Any]] = dict(content.get("glue", {}))
        self.types = {self.long(key): value for key, value in content.get("types", {}).items()}
        self.optional = {
            self.long(key): value for key, value in content.get("optional", {}).items()
        }
        self.external: dict[str, list[str]] = dict(content.get("external", {}))
        self.registered: dict[str, dict[str, list[str]]] = {
            self.long(key): {name: [self.long(each) for each in by] for name, by in value.items()}
            for key, value in content.get("registered", {}).items()
        }
        self.spread: dict[str, str] = dict(content.get("spread", {}))
        self.scans = tuple(
            Scan(**{**each, "files": tuple(each["files"]), "of": self.long(each["of"])})
            for each in content.get("scan", ())
        )

    @classmethod
    def read(cls) -> "Table":
        """Read the file."""
        return cls(tomllib.loads(FILE.read_text()))

    def long(self, key: str) -> str:
        """Write a key's class out: ``Class.attribute`` becomes ``module:Class.attribute``."""
        name, dot, rest = key.partition(".")
        return f"{self.classes[name]}{dot}{rest}" if name in self.classes else key

    def root(self, module: str, name: str) -> Kind | None:
        """What a name in one module of the glue is."""
        value = self.roots.get(module, {}).get(name)
        return None if value is None else self._kind(value)

    def kind(self, key: str) -> Kind | None:
        """What an attribute, or a call's result, of upstream is."""
        value = self.types.get(key)
        return None if value is None else self._kind(value)

    def _kind(self, value: str | list[str]) -> Kind:
        if value == PLAIN_KIND:
            return PLAIN
        names = [value] if isinstance(value, str) else value
        return Theirs(tuple(self.classes[each] for each in names))
