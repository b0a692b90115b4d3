"""A release of vLLM with the FlashInfer that it requires, and what does not fit it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.contract.check import against
from tests.contract.reading import Reader
from tests.contract.scan import against_calls
from tests.contract.table import Table, Wheel
from tests.contract.tree import Tree
from tests.contract.wheels import Members, members_of

VLLM, FLASHINFER = "vllm", "flashinfer-python"


@dataclass(frozen=True)
class Release:
    """Both wheels' Python.

    Attributes:
        version: Of vLLM.
        vllm: Its files.
        flashinfer: Those of the FlashInfer that it requires.
    """

    version: str
    vllm: Members
    flashinfer: Members

    def read(self, path: str) -> bytes | None:
        """Read a file of either."""
        holder = self.flashinfer if path.startswith("flashinfer/") else self.vllm
        return holder.read(path)

    def content(self, path: str) -> bytes:
        """Read a file that is there."""
        found = self.read(path)
        if found is None:
            raise KeyError(path)
        return found

    def unfit(self, glue: Reader, table: Table) -> list[str]:
        """Say what of the glue does not fit; empty where all does."""
        tree = Tree(self.read, ("vllm", "flashinfer"))
        calls = against_calls(glue.uses, table, self.vllm.names, self.content)
        return [*against(glue.uses, tree, table, self.version), *calls]


def releases(table: Table, version: str, folder: Path, environment: Mapping[str, str]) -> Release:
    """Give a release; see ``members_of`` for what it raises."""

    def members(requirement: str) -> Members:
        prefixes = table.members[requirement.partition("==")[0]]
        return members_of(wheel_of(table, requirement), prefixes, folder, environment)

    vllm = members(f"{VLLM}=={version}")
    return Release(version, vllm, members(f"{FLASHINFER}=={vllm.requires(FLASHINFER)}"))


def wheel_of(table: Table, requirement: str) -> Wheel:
    """Find a wheel in the table."""
    found = [each for each in table.wheels if each.requirement == requirement]
    if not found:
        raise LookupError(f"contract.toml names no wheel of {requirement}")
    return found[0]
