"""``[image.run]`` of a series: what a container is run with that serves the lane."""

import re
from typing import Annotated, Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.series_model import MODEL
from lanewright.queue.series_shut import check_capabilities, check_variables, check_volumes

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
SIZE = re.compile(r"[1-9][0-9]*[kmg]?")
# Months, in hours.
TIME = re.compile(r"[1-9][0-9]{0,3}[smh]")
LIMIT = re.compile(r"[a-z]+=(-1|[0-9]+)(:(-1|[0-9]+))?")
PLACE = re.compile(r"/[^:,\x00-\x1f\x7f]*")
# It ends up in a line of a shell: nothing that could end a string there, in it or in Python.
HEALTH = re.compile(r"/([A-Za-z0-9._~/?=&-]|%[0-9A-Fa-f]{2})*")


class RunSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[image.run]``; in no digest of the lane, for it changes nothing in the image.

    Attributes:
        model: Folder of the machine, or a model's name on the hub; by default that of ``[model]``.
        port: On which the server listens, on the machine as in the container.
        devices: As ``--device`` takes them, such as ``nvidia.com/gpu=all``.
        ipc: Whose shared memory is used; by default the container's own, of ``shm_size``.
        shm_size: Size of the container's own shared memory, such as ``2g``.
        cap_add: Capabilities beyond none, such as ``SYS_NICE``.
        ulimits: Such as ``memlock=-1``, which pinned host memory needs.
        volumes: Named volumes by where they are in the container: caches that outlive it.
        environment: Variables.
        caches: Folder of the machine for what engines compile and tune in containers; by default
            one of the state folder.
        health: Path that answers 200 once the server serves.
        health_start: How long it may take until then, such as ``20m``.
    """

    model: str | None = None
    port: Port = 8000
    devices: list[str] = []
    ipc: Literal["host"] | None = None
    shm_size: str = "2g"
    cap_add: list[str] = []
    ulimits: list[str] = []
    volumes: dict[str, str] = {}
    caches: str | None = None
    environment: dict[str, str] = {}
    health: str = "/health"
    health_start: str = "10m"


def check_run(run: RunSpec, site_packages: str, place: str) -> None:
    """Check what types alone do not say.

    Args:
        run: The table.
        site_packages: Where the image has vLLM; empty where that is not known.
        place: Of the table, for people.

    Raises:
        LanewrightError: A size, a time, a limit, a variable or a volume that is none, or one that
            would open the container, or have another vLLM in it.
    """
    checks = [
        ("shm_size", SIZE, [run.shm_size], 'a size such as "2g"'),
        ("health_start", TIME, [run.health_start], 'a time such as "10m"'),
        ("ulimits", LIMIT, run.ulimits, 'a limit such as "memlock=-1"'),
        (
            "model",
            MODEL,
            [run.model] if run.model is not None else [],
            "a folder or a model's name",
        ),
        ("caches", PLACE, [run.caches] if run.caches is not None else [], "an absolute path"),
        ("environment", VARIABLE, list(run.environment), "a variable's name"),
        ("volumes", PLACE, list(run.volumes), "an absolute path in the container"),
        ("volumes", NAME, list(run.volumes.values()), 'a volume\'s name such as "vllm-cache"'),
        (
            "health",
            HEALTH,
            [run.health],
            'a path such as "/health", of letters, digits and ._~/?=&-',
        ),
        ("devices", re.compile(r"[!-~]+"), run.devices, 'a device such as "nvidia.com/gpu=all"'),
    ]
    for key, pattern, texts, wanted in checks:
        for text in texts:
            if not pattern.fullmatch(text):
                raise LanewrightError(f"{place} {key}: {text!r} is not {wanted}")
    for name, value in run.environment.items():
        if "\0" in value or "\n" in value:
            raise LanewrightError(
                f"{place} environment: the value of {name} has more than one line"
            )
    check_capabilities(run.cap_add, place)
    check_variables(run.environment, place)
    check_volumes(run.volumes, run.environment, site_packages, place)
