"""Python files as one tree has them, by path and by module."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from lanewright.queue.names import Names
from lanewright.queue.reader import names_of
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

    def mentioning(self, name: str) -> Iterator[tuple[str, Names]]:
        """Files whose text has a name in it, with what they bind and use."""
        for path in self.paths:
            if path.endswith(".py") and name.encode() in self.read(path):
                names = self.names(path)
                if names:
                    yield path, names

    @cached_property
    def _known(self) -> dict[str, Names | None]:
        return {}

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(folder for path in self.paths for folder in folders(path))


def files_of(module: str) -> tuple[str, str]:
    """The two files that a module can be."""
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"
