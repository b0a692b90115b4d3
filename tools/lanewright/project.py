"""The user's project: where its series, patches and overlays lie, and what upstream.toml says."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.oci import Digest
from lanewright.shell_line import require_line
from lanewright.store.remote import Remote, remote_of
from lanewright.tomlfile import load

LANE_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
Device = Literal["cpu", "cuda"]


class NoProjectError(LanewrightError):
    """There is no project here; a few commands do without one."""


class GitUpstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[git]``: upstream's repository.

    Attributes:
        url: Of its remote.
        branch: The branch that pull requests are merged into.
        images: Repository of its images, in which ``nightly-<commit>`` tags are looked for: a name
            such as ``docker.io/vllm/vllm-openai``, or the address of a server with Docker Hub's API.
    """

    url: str
    branch: str = "main"
    images: str | None = None


class Serving(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[serving]``: a commit and the image that was built of it.

    Attributes:
        commit: Its full id.
        image: Name and tag.
        digest: Of the image.
    """

    commit: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}\Z")]
    image: str
    digest: Digest


class NightlySpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[nightly]``: what every night tries.

    Attributes:
        lanes: Which lanes, in order, where none is named.
        gpus: Where those are none either, which lanes a machine is for, by a part of its GPU's name.
        notify: A line for sh, given the night as JSON on its standard input.
        step_seconds: That one step may take; it is ended then, as failed.
    """

    lanes: list[str] = []
    gpus: dict[str, list[str]] = {}
    notify: str = ""
    step_seconds: Annotated[int, msgspec.Meta(ge=1, le=604_800)] = 14_400


class Upstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``upstream.toml``.

    Attributes:
        default_lane: Lane taken where a command is given none.
        releases: Distribution that holds vLLM for a kind of device.
        git: vLLM's repository.
        serving: The commit that hardware lanes are served on.
        nightly: What every night tries.
    """

    default_lane: str
    releases: dict[Device, str]
    git: GitUpstream | None = None
    serving: Serving | None = None
    nightly: NightlySpec = NightlySpec()

    @property
    def remote(self) -> Remote | None:
        """Where upstream's commits and pull requests are fetched from, if anywhere."""
        return remote_of(self.git.url, place="upstream.toml: [git] url") if self.git else None


@dataclass(frozen=True)
class Project:
    """A checkout with an ``upstream.toml`` at its root."""

    root: Path
    upstream: Upstream

    @classmethod
    def find(cls, start: Path) -> "Project":
        """The project that ``start`` lies in.

        Raises:
            NoProjectError: No ``upstream.toml`` here or above.
            LanewrightError: It cannot be read.
        """
        for folder in (start, *start.parents):
            if (folder / "upstream.toml").is_file():
                file = folder / "upstream.toml"
                upstream = load(file, Upstream)
                require_line(upstream.nightly.notify, f"{file}: [nightly] notify")
                return cls(folder, upstream)
        raise NoProjectError(
            f"no upstream.toml in {start} or above it",
            hint="run lanewright inside a project, or name one with `lanewright -C DIR`",
        )

    @property
    def patches(self) -> Path:
        """Own patches, and what is known of pull requests."""
        return self.root / "patches"

    @property
    def overlay(self) -> Path:
        """Our packages and files to lay into a tree."""
        return self.root / "overlay"

    @property
    def environments(self) -> Path:
        """Locked requirements of lane environments."""
        return self.root / "environments"

    def lanes(self) -> list[str]:
        """Names of the lanes that have a series, sorted."""
        stems = (path.stem for path in (self.root / "series").glob("*.toml"))
        return sorted(stem for stem in stems if LANE_NAME.fullmatch(stem))

    def series_file(self, lane: str) -> Path:
        """The series of a lane.

        Raises:
            LanewrightError: There is no such lane.
        """
        path = self.root / "series" / f"{lane}.toml"
        if not LANE_NAME.fullmatch(lane) or not path.is_file():
            known = ", ".join(self.lanes()) or "none"
            if path.is_file():
                raise LanewrightError(
                    f"{lane!r} is no name of a lane: lower-case letters, digits and dashes are",
                    hint=f"rename series/{lane}.toml",
                )
            raise LanewrightError(
                f"unknown lane {lane!r}: no series/{lane}.toml (lanes here: {known})",
                hint="lanewright list",
            )
        return path

    def lock_file(self, lane: str) -> Path:
        """Where the lock of a lane is, or will be."""
        return self.root / "series" / f"{lane}.lock"

    def option(self, lane: str) -> str:
        """What a command needs behind it to mean this lane; nothing for the default one."""
        return "" if lane == self.upstream.default_lane else f" --lane {lane}"
