"""Where things are kept outside the project: the store (a cache) and the state (records)."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from lanewright.errors import LanewrightError


@dataclass(frozen=True)
class Places:
    """Folders of this user.

    Attributes:
        store: Cache folder; everything in it can be made again. ``LANEWRIGHT_STORE`` moves it.
        state: Records of runs; nothing here can be made again. ``LANEWRIGHT_STATE`` moves it.
    """

    store: Path
    state: Path

    @classmethod
    def of_user(cls) -> "Places":
        """Read the two variables, or take the platform's own folders."""
        store = os.environ.get("LANEWRIGHT_STORE") or platformdirs.user_cache_path("lanewright")
        state = os.environ.get("LANEWRIGHT_STATE") or platformdirs.user_state_path("lanewright")
        if os.pathsep in str(store):
            raise LanewrightError(
                f"LANEWRIGHT_STORE={store} holds a {os.pathsep!r}, which Python's path cannot hold"
            )
        return cls(Path(store).absolute(), Path(state).absolute())

    @property
    def objects(self) -> Path:
        """Bare git repository that holds every source and every built tree."""
        return self.store / "objects.git"

    @property
    def known(self) -> Path:
        """What entries came to in earlier builds; nothing is lost with it but time."""
        return self.store / "known"

    @property
    def incoming(self) -> Path:
        """What comes from a remote and is not known to be whole yet."""
        return self.store / "incoming"

    @property
    def bundles(self) -> Path:
        """Bundles opened for a look, each in a store of its own."""
        return self.store / "bundles"

    @property
    def wheels(self) -> Path:
        """Wheels as downloaded."""
        return self.store / "wheels"

    @property
    def releases(self) -> Path:
        """Per release, what a wheel holds beside its source tree: compiled files and metadata."""
        return self.store / "releases"

    @property
    def bases(self) -> Path:
        """Python environments with vLLM's dependencies, by lock hash."""
        return self.store / "bases"

    @property
    def sites(self) -> Path:
        """Trees laid out on disk for Python to import, by tree id and release."""
        return self.store / "sites"

    @property
    def bisects(self) -> Path:
        """Trees that `bisect` lays out, one after the other, while it runs."""
        return self.store / "bisects"

    @property
    def layouts(self) -> Path:
        """Images as OCI layouts, by lane and lock."""
        return self.store / "layouts"

    @property
    def base_images(self) -> Path:
        """Images that lanes are based on, as OCI layouts, each of one platform."""
        return self.store / "base-images"

    @property
    def wheelhouse(self) -> Path:
        """Folders with all the wheels of a base image, by what they are installed from."""
        return self.store / "wheelhouse"

    @property
    def models(self) -> Path:
        """Generated models, by recipe hash."""
        return self.store / "models"

    @property
    def bytecode(self) -> Path:
        """Python's compiled files, kept apart so that a site holds exactly its tree."""
        return self.store / "pyc"
