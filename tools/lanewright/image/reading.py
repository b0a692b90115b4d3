"""Follow a layout's documents from one to the next, and note whatever does not hold."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from lanewright.image.oci import Descriptor, blob_path, digest_of

T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """A layout that is being read; what cannot be had is None, and told.

    Attributes:
        folder: It.
        reached: Paths that were asked for.
        told: What is wrong, for people; each once.
    """

    folder: Path
    reached: set[str]
    told: list[str]

    def tell(self, text: str) -> None:
        """Note what is wrong."""
        if text not in self.told:
            self.told.append(text)

    def file(self, path: str, what: str = "") -> bytes | None:
        """The content of a file of the layout."""
        self.reached.add(path)
        file = self.folder / path
        if file.is_symlink() or not file.is_file():
            self.tell(f"{path}{what} is missing, or no regular file")
            return None
        return file.read_bytes()

    def blob(self, descriptor: Descriptor, what: str) -> bytes | None:
        """The blob behind a descriptor, if it has the size and digest stated there."""
        path = blob_path(descriptor.digest)
        content = self.file(path, f" ({what})")
        if content is None:
            return None
        if len(content) != descriptor.size:
            self.tell(f"{path} ({what}) has {len(content)} bytes, not {descriptor.size}")
        if digest_of(content) != descriptor.digest:
            self.tell(f"{path} ({what}) is not what its name says")
            return None
        return content

    def decode(self, name: str, content: bytes | None, kind: type[T]) -> T | None:
        """A document from its bytes."""
        if content is None:
            return None
        try:
            return msgspec.json.decode(content, type=kind)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            self.tell(f"{name} cannot be read: {error}")
            return None

    def document(self, descriptor: Descriptor, kind: type[T], what: str) -> T | None:
        """The document behind a descriptor."""
        name = f"{blob_path(descriptor.digest)} ({what})"
        return self.decode(name, self.blob(descriptor, what), kind)
