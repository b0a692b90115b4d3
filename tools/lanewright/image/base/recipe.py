"""What a CPU lane's base is made of, and where the store has it."""

import hashlib
import platform
import zipfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import msgspec

from lanewright.errors import HardwareError, LanewrightError
from lanewright.image.base.requirements import left_out, slimmed
from lanewright.image.oci import ARCHITECTURES
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.pin import read_pin
from lanewright.queue.series import Series, load_series
from lanewright.serve.base import TORCH
from lanewright.store.release import Release, kept_wheel, wheel_of
from lanewright.store.wheel import DAMAGE, WheelError
from lanewright.terminal import quoted

# It moves with what is done here and is in none of the files that are read.
FORM = 3
SUITE = "bookworm"
# vLLM's compiled files load libnuma; util-linux, which is always there, has the lscpu that it calls.
# vLLM has torch compile some of its own code, logprobs' among it, eager or not: a compiler, openssl, the
# headers of Python and of C.
PACKAGES = ("g++", "libnuma1", "libpython3.11-dev", "openssl", "python3.11")


@dataclass(frozen=True)
class Recipe:
    """All that goes into a base.

    Attributes:
        requirements: Every wheel but torch's and vLLM's, with hashes, one a line.
        left_out: Distributions that the lane's environment has and the base has not.
        torch: Version of torch.
        distribution: The wheel that holds vLLM.
        version: Its version.
        digest: Its sha256.
        time: When it was made: the newest of its members, in seconds since 1970, as UTC.
        architecture: As Go names it.
        suite: Debian's.
        packages: Of Debian, beside those that it cannot be without.
        containerfile: How it is put together.
        compiling: What compiles all of Python in it.
        pip: What installs the wheels, with its hash.
    """

    requirements: str
    left_out: tuple[str, ...]
    torch: str
    distribution: str
    version: str
    digest: str
    time: int
    architecture: str
    suite: str
    packages: tuple[str, ...]
    containerfile: str
    compiling: str
    pip: str

    @property
    def key(self) -> str:
        """sha256 over all of it."""
        return hashlib.sha256(msgspec.json.encode([FORM, asdict(self)])).hexdigest()

    @property
    def created(self) -> str:
        """Its time, as RFC 3339 has it."""
        return datetime.fromtimestamp(self.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def base_image(project: Project, places: Places, lane: str) -> Path | None:
    """The layout of a lane's base; None where it is not made.

    Raises:
        LanewrightError: The lane's series or its environment's list cannot be read.
    """
    if not any(places.base_images.glob("made-*")):
        return None
    series = load_series(project, lane)
    if series.device != "cpu" or platform.machine() not in ARCHITECTURES:
        return None
    wheel = kept_wheel(places, release_of(project, series, lane))
    if wheel is None:
        return None
    folder = folder_of(places, _recipe(project, series, wheel))
    return folder if (folder / "index.json").is_file() else None


def recipe_of(project: Project, places: Places, lane: str) -> Recipe:
    """What a lane's base is made of; its vLLM is downloaded where the store lacks it.

    Raises:
        HardwareError: vLLM has no CPU build for this machine.
        LanewrightError: It is no CPU lane or for another machine, or its base is published.
    """
    series = load_series(project, lane)
    said = series.image
    if series.device != "cpu" or (said and said.base):
        raise LanewrightError(
            f"lane {lane}: its base is not made here"
            + (f": it is {said.base}" if said and said.base else f": it runs on {series.device}"),
            hint=f"lanewright image mirror {quoted(lane)}",
        )
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        known = " and ".join(ARCHITECTURES)
        raise HardwareError(f"vLLM has CPU builds for {known}; this is {machine}")
    here = ARCHITECTURES[machine]
    if said and said.architecture not in (None, here):
        raise LanewrightError(
            f"lane {lane}: its image is for {said.architecture}, and a base is made on a machine of"
            f" its own kind; this is {here}",
            hint=f"make it there, and hand it over: lanewright image {quoted(lane)} --base LAYOUT",
        )
    return _recipe(project, series, wheel_of(places, release_of(project, series, lane)))


def folder_of(places: Places, recipe: Recipe) -> Path:
    """Where the store has a base, or will have it."""
    return places.base_images / f"made-{recipe.key[:16]}"


def release_of(project: Project, series: Series, lane: str) -> Release:
    """The release whose wheel is in a lane's base."""
    place = str(project.series_file(lane))
    spec = read_pin(project, series.device, series.pin, place=place, release=series.release)
    return spec.release


def _recipe(project: Project, series: Series, wheel: Path) -> Recipe:
    place = project.environments / f"{series.device}.txt"
    try:
        text = place.read_text()
    except OSError as error:
        raise LanewrightError(f"requirement list {place}: {error.strerror}") from error
    machine = platform.machine()
    without = left_out(series)
    distribution, version = wheel.name.split("-")[:2]
    return Recipe(
        requirements=slimmed(text, without, machine, str(place)),
        left_out=without,
        torch=TORCH,
        distribution=distribution.replace("_", "-"),
        version=version,
        digest=sha256_of(wheel),
        time=newest_time(wheel),
        architecture=ARCHITECTURES[machine],
        suite=SUITE,
        packages=PACKAGES,
        containerfile=own_file("Containerfile"),
        compiling=own_file("compiling.py"),
        pip=own_file("pip.txt"),
    )


def own_file(name: str) -> str:
    """A file that lies beside this one, however lanewright was installed."""
    return (files("lanewright.image.base") / name).read_text(encoding="utf-8")


def newest_time(wheel: Path) -> int:
    """When the last of a wheel's members was written, in seconds since 1970, as UTC.

    Raises:
        WheelError: It cannot be read.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            newest = max(info.date_time for info in archive.infolist())
            return int(datetime(*newest, tzinfo=UTC).timestamp())
    except DAMAGE as error:
        raise WheelError(f"{wheel}: cannot be read: {error}") from error


def sha256_of(file: Path) -> str:
    """A file's digest, as pip and OCI write it."""
    with file.open("rb") as opened:
        return f"sha256:{hashlib.file_digest(opened, 'sha256').hexdigest()}"
