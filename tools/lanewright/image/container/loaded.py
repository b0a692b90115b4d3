"""Images as docker takes them: an archive that it loads, wherever its daemon is."""

from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.archive.members import docker_members
from lanewright.image.archive.streamed import write_archive
from lanewright.image.opened.image import OpenImage
from lanewright.image.tool import ANSWER_SECONDS, asked, run_tool
from lanewright.store.scratch import making
from lanewright.terminal import quoted


def load(program: str, image: OpenImage, name: str) -> None:
    """Load an image into docker's storage under a name.

    docker reads no OCI layout, and its daemon may be elsewhere (``DOCKER_HOST``, a context), so
    nothing but its own command is asked.

    Args:
        program: docker.
        image: In a layout; its archive is written beside that, and removed.
        name: With a tag.

    Raises:
        LanewrightError: There is no room, docker says no, or what it has then is another image.
    """
    beside = image.folder.parent
    try:
        with making(beside) as scratch:
            archive = scratch / "image.tar"
            write_archive(docker_members(image, name), archive)
            run_tool([program, "load", "--quiet", f"--input={archive}"], f"load {name} into docker")
    except OSError as error:
        raise LanewrightError(
            f"cannot write an archive of {name} in {beside}: {error.strerror}",
            hint="free some disk space: it takes as much as the image",
        ) from error
    wanted = [layer.diff_id for layer in image.layers]
    if layers_of(program, name) != wanted:
        raise LanewrightError(
            f"docker has other layers in {name} than were loaded",
            hint=f"docker image rm {name}",
        )


def layers_of(program: str, name: str) -> list[str]:
    """Digests of an image's layers, uncompressed, as an engine tells them; empty where it has none.

    Raises:
        LanewrightError: It answers with something else.
    """
    command = [program, "image", "inspect", "--format={{json .RootFS.Layers}}", name]
    said = asked(command, seconds=ANSWER_SECONDS)
    if said.returncode:
        return []
    try:
        return msgspec.json.decode(said.stdout, type=list[str] | None) or []
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(
            f"{Path(program).name} tells no layers of {name}: {error}",
            hint=f"see what it prints: {' '.join(map(quoted, command))}",
        ) from error
