"""An image's bill of materials, as CycloneDX has it."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from lanewright import __version__
from lanewright.image.bill.installed import (
    Distribution,
    Package,
    System,
    distributions,
    is_site,
    locked_wheels,
    packages,
    system,
)
from lanewright.image.bill.torch import torch_wheel
from lanewright.image.bill.vllm import vllm
from lanewright.image.documents import CREATED
from lanewright.image.onto.making import Made
from lanewright.image.opened.contents import Found
from lanewright.image.stamps import BASE_DIGEST, PREFIX, ToldEntry, told_entries
from lanewright.queue.lock import Lock, layer_of

OWN = "lanewright:"
SERIAL = uuid.uuid5(uuid.NAMESPACE_URL, "tag:lanewright,2026:bill-of-materials/v1")
TOLD = ("lane", "lock", "pin", "pin.commit", "pin.tree", "tree", "layer")


def materials(lock: Lock, made: Made, contents: Mapping[str, Found], requirements: Path) -> bytes:
    """Say what is in an image; of equal images the same bytes.

    Args:
        lock: Of the lane.
        made: Its image.
        contents: Every path of the image.
        requirements: The list that a base was installed from which is made here.
    """
    root, entries = _image(lock, made), told_entries(made.image.labels)
    os = system(contents)
    # A base that others made may have another wheel of the same name and version.
    ours = f"{PREFIX}base.recipe" in made.base.labels
    wheels = locked_wheels(requirements) if ours else {}
    if ours and (torch := torch_wheel(made.base.labels)):
        version, digest = torch
        wheels["torch", version] = [digest]
    parts = [
        vllm(lock, entries),
        *(_overlay(entry) for entry in entries if entry.kind == "overlay"),
        *([_system(os)] if os else []),
        *(_package(each, os) for each in packages(contents)),
    ]
    taken = {part.purl for part in parts}
    parts += [
        part for part in _distributions(distributions(contents), wheels) if part.purl not in taken
    ]
    bom = Bom(
        components=parts,
        serial_number=uuid.uuid5(SERIAL, made.image.digest),
        metadata=BomMetaData(
            component=root,
            timestamp=_time(made.image.labels["org.opencontainers.image.created"]),
            tools=ToolRepository(components=[_tool()]),
        ),
    )
    bom.register_dependency(root, parts)
    return JsonV1Dot6(bom).output_as_string(indent=2).encode() + b"\n"


def _image(lock: Lock, made: Made) -> Component:
    labels = made.image.labels
    own = {key: labels[f"{PREFIX}{key}"] for key in TOLD}
    base = {"base": labels[BASE_DIGEST]}
    if "org.opencontainers.image.base.name" in labels:
        base["base.name"] = labels["org.opencontainers.image.base.name"]
    return Component(
        type=ComponentType.CONTAINER,
        name=f"lanewright/{lock.lane}",
        version=layer_of(lock).version or lock.pin.version,
        bom_ref="image",
        purl=PackageURL(
            "oci",
            None,
            lock.lane,
            made.image.digest,
            {"arch": made.base.platform.architecture},
        ),
        properties=_properties({**own, **base}.items()),
    )


def _overlay(entry: ToldEntry) -> Component:
    # Its digest is of paths, modes and contents: no file has it, so it is no hash of one.
    return Component(
        type=ComponentType.LIBRARY,
        name=entry.name,
        bom_ref=f"overlay {entry.name}",
        description=f"laid into the lane's tree: {entry.files} files",
        properties=_properties([("sha256", entry.digest)]),
    )


def _system(found: System) -> Component:
    return Component(
        type=ComponentType.OPERATING_SYSTEM,
        name=found.id,
        version=found.version or None,
        bom_ref="system",
        description=found.name,
    )


def _package(found: Package, os: System | None) -> Component:
    kind = os.id if os else "debian"
    known = {"arch": found.architecture, "distro": f"{kind}-{os.version}" if os else ""}
    return Component(
        type=ComponentType.LIBRARY,
        name=found.name,
        version=found.version,
        bom_ref=f"deb {found.name} {found.version} {found.architecture}",
        purl=PackageURL(
            "deb",
            kind,
            found.name,
            found.version,
            {key: each for key, each in known.items() if each},
        ),
    )


def _distributions(
    found: Iterable[Distribution], wheels: Mapping[tuple[str, str], list[str]]
) -> Iterator[Component]:
    places: dict[tuple[str, str], list[str]] = {}
    for each in found:
        places.setdefault((each.name, each.version), []).append(each.path)
    for (name, version), paths in places.items():
        hashes = wheels.get((name, version), []) if any(map(is_site, paths)) else []
        told = [("path", f"/{path}") for path in paths]
        if len(hashes) > 1:  # one wheel for each kind of machine: it is one of these
            told += [("wheel.sha256", each) for each in hashes]
        yield Component(
            type=ComponentType.LIBRARY,
            name=name,
            version=version,
            bom_ref=f"python {name} {version}",
            purl=PackageURL("pypi", None, name, version),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in hashes]
            if len(hashes) == 1
            else None,
            properties=_properties(told),
        )


def _tool() -> Component:
    return Component(type=ComponentType.APPLICATION, name="lanewright", version=__version__)


def _properties(told: Iterable[tuple[str, str]]) -> list[Property]:
    return [Property(name=f"{OWN}{key}", value=value) for key, value in told]


def _time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.fromisoformat(CREATED)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
