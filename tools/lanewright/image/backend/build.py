"""Have a tool of others build a lane's image."""

import json
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from lanewright.cli_image import ENGINES
from lanewright.errors import LanewrightError
from lanewright.image.container.engine import Engine, engine_here, image_name, pulled_base
from lanewright.image.layer import WHITEOUT
from lanewright.image.layout import locked_layer
from lanewright.image.oci import ARCHITECTURES
from lanewright.image.onto.composed import built_on_base
from lanewright.image.opened.image import OpenImage
from lanewright.image.tar import SECONDS, Member, unpack
from lanewright.image.tool import ANSWER_SECONDS, asked, program, run_tool
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.store.git import Repository
from lanewright.store.scratch import making

HERE = Path(__file__).parent
# As in the layer, so that the file alone says whether it is the lane's.
TIMES = (SECONDS, SECONDS)


@dataclass(frozen=True)
class Built:
    """An image in a tool's storage.

    Attributes:
        name: By which the tool knows it.
        id: Digest of its configuration, without ``sha256:``; each tool makes its own.
    """

    name: str
    id: str


def build_by(places: Places, lock: Lock, base: OpenImage, backend: str) -> Built:
    """Build a lane's image by ``buildah``, ``podman`` or ``docker``.

    Args:
        places: The store.
        lock: With a layer.
        base: Shown to be of the lane's pin; of this machine's architecture, for it is run.
        backend: Which tool.

    Raises:
        LanewrightError: The tool is missing, does not answer, or says no; or the base is of
            another architecture.
    """
    own = ARCHITECTURES.get(os.uname().machine)
    if base.platform.architecture != own:
        raise LanewrightError(
            f"lane {lock.lane}: {backend} runs what it builds, and {base.platform.architecture} is not"
            f" run on this {own} machine",
            hint=f"lanewright image {lock.lane} makes it on any machine, without {backend}",
        )
    without = f"lanewright image {lock.lane} without it"
    tool = program(backend, f"`--backend {backend}`", without)
    if backend in ENGINES:
        tool = engine_here(backend).program
    with making(places.layouts) as scratch:
        _context(Repository(places.objects), lock, scratch)
        base_id = _brought(tool, backend, base)
        name = image_name(lock)
        labels = [f"--label={key}={value}" for key, value in built_on_base(lock, base).items()]
        command = [tool, "build", *_flags(backend), f"--build-arg=BASE={base_id}", *labels]
        run_tool(
            [*command, f"--file={scratch}/Containerfile", f"--tag={name}", str(scratch)],
            f"{backend} build of {name}",
            environ=ENVIRON,
        )
    found = asked([tool, *_inspecting(backend), name], seconds=ANSWER_SECONDS)
    if found.returncode:
        raise LanewrightError(f"{backend} built {name} and has it not: {found.stderr.strip()}")
    return Built(name, found.stdout.strip().removeprefix("sha256:"))


# docker's older builder has no mounts.
ENVIRON = {"DOCKER_BUILDKIT": "1"}


def _flags(backend: str) -> list[str]:
    if backend == "docker":
        return ["--network=none"]
    # A build runs one line of Python; that takes no namespaces of its own.
    return ["--layers=false", "--isolation=chroot", f"--timestamp={SECONDS}", "--format=oci"]


def _inspecting(backend: str) -> list[str]:
    if backend == "buildah":
        return ["inspect", "--type=image", "--format={{.FromImageID}}"]
    return ["image", "inspect", "--format={{.Id}}"]


def _brought(tool: str, backend: str, base: OpenImage) -> str:
    """Bring the base into the tool's storage; its id there."""
    if backend == "docker":
        return pulled_base(Engine(backend, tool), base)
    identity = base.config_blob.digest.removeprefix("sha256:")
    there = asked([tool, "inspect", "--type=image", identity], seconds=ANSWER_SECONDS)
    if there.returncode:
        # It makes a name of the path, in which no part may begin with a dot.
        bring = [tool, "pull", "--quiet", f"oci:{base.folder.name}"]
        run_tool(bring, f"bring the base into {backend}", folder=base.folder.parent)
    return identity


def _context(repository: Repository, lock: Lock, folder: Path) -> None:
    """Lay the layer's members out as a build takes them."""
    removed = []
    for _, member in unpack(locked_layer(repository, lock)):
        above, slash, name = member.path.rpartition("/")
        if name.startswith(WHITEOUT):
            removed.append(f"/{above}{slash}{name.removeprefix(WHITEOUT)}")
        else:
            _lay(folder / "files" / member.path, member)
    (folder / "removed").mkdir()
    shutil.copy(HERE / "remove.py", folder / "removed")
    (folder / "removed/paths.json").write_text(json.dumps(removed))
    shutil.copy(HERE / "Containerfile", folder)


def _lay(place: Path, member: Member) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if member.kind == tarfile.DIRTYPE:
        place.mkdir(exist_ok=True)
    elif member.kind == tarfile.SYMTYPE:
        place.symlink_to(os.fsdecode(member.content))
    else:
        place.write_bytes(member.content)
    if member.kind != tarfile.SYMTYPE:
        place.chmod(member.mode)
    os.utime(place, TIMES, follow_symlinks=False)
