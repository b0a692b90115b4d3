"""Python files as one tree has them, by path and by module."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from lanewright.queue.closure.names import Names
from lanewright.queue.closure.reader import names_of
from lanewright.store.objects import folders


@dataclass(frozen=True)
class View:
    """Files as one tree has them.

    Attributes:
        paths: All of them.
        read: Gives the content of one.
        changed: Those in which a class may get what it lacks: a subclass, or who sets it.
    """

    paths: Collection[str]
    read: Callable[[str], bytes]
    changed: Collection[str] = ()

    def names(self, path: str) -> Names | None:
        """What a file binds and uses; None where it is not there or no Python."""
        if path not in self._known:
            is_python = path in self.paths and path.endswith(".py")
            self._known[path] = names_of(path, self.read(path)) if is_python else None
        return self._known[path]

    def module(self, name: str) -> Names | None:
        """The file that a module is."""
        return next(filter(None, map(self.names, files_of(name))), None)

    def has(self, module: str) -> bool:
        """Whether there is such a module or package, be it without ``__init__``."""
        return self.module(module) is not None or module.replace(".", "/") in self._folders

    def mentioning(self, *patterns: bytes) -> Iterator[tuple[str, Names]]:
        """Files in whose text all of these are found, with what they bind and use."""
        for path in self.paths:
            if path.endswith(".py") and all(re.search(p, self.text(path)) for p in patterns):
                names = self.names(path)
                if names:
                    yield path, names

    def text(self, path: str) -> bytes:
        """The content of a file, read once."""
        if path not in self._texts:
            self._texts[path] = self.read(path)
        return self._texts[path]

    @cached_property
    def _texts(self) -> dict[str, bytes]:
        return {}

    @cached_property
    def _known(self) -> dict[str, Names | None]:
        return {}

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.paths for folder in folders(path))


def files_of(module: str) -> tuple[str, str]:
    """The two files that a module can be; where both are there, Python takes the first."""
    path = module.replace(".", "/")
    return f"{path}/__init__.py", f"{path}.py"


def word(name: str) -> bytes:
    """A pattern for a name where it stands by itself."""
    return rb"\b" + re.escape(name.encode()) + rb"\b"


def set_outside(view: View, name: str) -> bool:
    """Whether some file seems to set an attribute of this name on something.

    By its text alone, as the files of a whole tree are too many to be read for their names.
    """
    plain = name.encode()
    given = re.compile(
        rb"\." + plain + rb"\s*(?:,[^\n=]*|:[^\n=]*)?=(?!=)|[\"\']" + plain + rb"[\"\']"
    )
    texts = (view.text(path) for path in view.paths if path.endswith(".py"))
    return any(plain in text and given.search(text) for text in texts)
