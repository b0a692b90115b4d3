"""The command line of images: ``image LANE``, and ``image ACTION``."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

BACKENDS = ("lanewright", "buildah", "podman", "docker")
ENGINES = ("podman", "docker")
FORMATS = ("oci", "docker")
ACTIONS = {
    "base": "make the image that a CPU lane's is based on",
    "mirror": "keep the image that a lane is based on, as an OCI layout",
    "inspect": "say what is in an image, from its labels alone",
    "smoke": "boot an image in a container and compare its answers",
    "run": "print the command that serves a lane from its image",
    "source": "write what builds a lane's image from source",
}
AddCommand = Callable[..., argparse.ArgumentParser]


def joined(arguments: Sequence[str]) -> list[str]:
    """Make one word of ``image`` and an action behind it, so that ``image LANE`` can stay.

    A lane that has an action's name is taken behind ``--``.
    """
    found = list(arguments)
    place = 0
    while place < len(found) and found[place].startswith("-"):
        place += 2 if found[place] == "-C" else 1
    if found[place : place + 1] == ["image"] and found[place + 1 : place + 2]:
        action = found[place + 1]
        if action in ACTIONS:
            found[place : place + 2] = [f"image {action}"]
    return found


def refused(found: argparse.Namespace) -> str | None:
    """Which of a command line's options about images do not go together, for people."""
    if getattr(found, "every", False) and (found.lane or found.base):
        return "`image mirror --every` is of all lanes: without LANE and --base"
    if getattr(found, "archive_format", None) and not found.archive:
        return "`image --format` is of an archive: image --archive DIR --format FORM"
    return None


def add_image(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", command: AddCommand
) -> None:
    """Add ``image`` and its actions."""
    image = command(commands, "image", "make a lane's layer, and its image on a base", reads=True)
    _add_base(image)
    image.add_argument(
        "--backend",
        choices=BACKENDS,
        default=BACKENDS[0],
        help="what puts the layer on the base; by default %(default)s itself, in an OCI layout",
    )
    image.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for the layout, instead of the store's"
    )
    image.add_argument(
        "--archive",
        type=Path,
        metavar="DIR",
        help="write an archive there, its bill of materials and its provenance",
    )
    image.add_argument(
        "--format",
        dest="archive_format",
        choices=FORMATS,
        help=f"of the archive: for podman, or for docker; by default {FORMATS[0]}",
    )
    for action, text in ACTIONS.items():
        made = command(
            commands,
            f"image {action}",
            text,
            reads=action not in {"run", "source"},
            of_lane=action != "inspect",
            module=f"image_{action}",
        )
        _ADDING.get(action, _add_nothing)(made)


def _add_optional(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--optional",
        action="store_true",
        help="where a tool for it is not here, or the lane needs none, say so and end with 0",
    )


def _add_nothing(_: argparse.ArgumentParser) -> None:
    """Some take no option of their own."""


def _add_base(image: argparse.ArgumentParser) -> None:
    image.add_argument(
        "--base",
        type=_image,
        metavar="IMAGE",
        help="base image: an OCI layout, an archive, or containers-storage:NAME",
    )


def _image(text: str) -> str:
    # An unset variable; without it the lane's own base is taken.
    if not text:
        raise argparse.ArgumentTypeError("it is empty: name an image, or leave --base out")
    return text


def _add_mirror(mirror: argparse.ArgumentParser) -> None:
    _add_base(mirror)
    _add_optional(mirror)
    mirror.add_argument(
        "--every", action="store_true", help="of all lanes that name a base, locked or not"
    )


def _add_inspect(inspect: argparse.ArgumentParser) -> None:
    inspect.add_argument(
        "image",
        nargs="?",
        metavar="IMAGE",
        help="an OCI layout, an archive, containers-storage:NAME or a lane; else the default lane",
    )
    inspect.set_defaults(anywhere=True)


def _add_engine(smoke: argparse.ArgumentParser) -> None:
    smoke.add_argument(
        "--engine",
        choices=ENGINES,
        help="what runs the container; by default the first that is here",
    )


def _add_smoke(smoke: argparse.ArgumentParser) -> None:
    _add_engine(smoke)
    _add_optional(smoke)


def _add_out(source: argparse.ArgumentParser) -> None:
    source.add_argument(
        "--out", type=Path, metavar="DIR", required=True, help="a new folder for it"
    )


_ADDING = {
    "base": _add_optional,
    "mirror": _add_mirror,
    "inspect": _add_inspect,
    "smoke": _add_smoke,
    "run": _add_engine,
    "source": _add_out,
}
