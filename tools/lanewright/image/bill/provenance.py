"""How an image came to be, as in-toto and SLSA have it; nothing here signs it."""

import msgspec
from packageurl import PackageURL

from lanewright import __version__
from lanewright.image.bill.torch import torch_wheel
from lanewright.image.onto.making import Made
from lanewright.image.stamps import BASE_DIGEST, VLLM
from lanewright.queue.lock import Lock, LockedEntry, layer_of

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD = "tag:lanewright,2026:image/v1"
BUILDER = "tag:lanewright,2026:builder/v1"


def provenance(lock: Lock, made: Made, archive: str, sha256: str, papers: dict[str, str]) -> bytes:
    """State what an image and its archive were made of; of equal ones the same bytes, without a time.

    Args:
        lock: Of the lane.
        made: Its image.
        archive: The archive's name.
        sha256: Of the archive, in hex.
        papers: What lies beside it, by name and sha256 in hex.
    """
    form = archive.removeprefix(f"{lock.lane}.").removesuffix(".tar")
    statement = {
        "_type": STATEMENT,
        "subject": [
            {"name": f"lanewright/{lock.lane}", "digest": {"sha256": _hex(made.image.digest)}},
            {"name": archive, "digest": {"sha256": sha256}},
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD,
                "externalParameters": {"lane": lock.lane, "lock": lock.seal, "format": form},
                "internalParameters": {"layer": layer_of(lock).digest, "tree": lock.tree},
                "resolvedDependencies": _made_of(lock, made),
            },
            "runDetails": {
                "builder": {"id": BUILDER, "version": {"lanewright": __version__}},
                "byproducts": [
                    {"name": name, "digest": {"sha256": digest}} for name, digest in papers.items()
                ],
            },
        },
    }
    return msgspec.json.format(msgspec.json.encode(statement), indent=2) + b"\n"


def _made_of(lock: Lock, made: Made) -> list[dict[str, object]]:
    labels = made.image.labels
    base: dict[str, object] = {
        "name": labels.get("org.opencontainers.image.base.name", "base"),
        "digest": {"sha256": _hex(labels[BASE_DIGEST])},
    }
    return [
        base,
        *_torch(made),
        *_pin(lock),
        *(part for entry in lock.entries for part in _entry(entry)),
    ]


def _torch(made: Made) -> list[dict[str, object]]:
    torch = torch_wheel(made.base.labels)
    if torch is None:
        return []
    version, digest = torch
    uri = PackageURL("pypi", None, "torch", version).to_string()
    return [{"name": f"torch {version}", "uri": uri, "digest": {"sha256": digest}}]


def _pin(lock: Lock) -> list[dict[str, object]]:
    pin = lock.pin
    # A release's commit is the store's own; what others can find is its tree.
    if pin.source == "release":
        uri = f"pkg:pypi/{pin.distribution}@{pin.version}"
    else:
        uri = f"git+{VLLM}@{pin.commit}"
    name = f"pin {pin.ref}"
    return [{"name": name, "uri": uri, "digest": {"gitCommit": pin.commit, "gitTree": pin.tree}}]


def _entry(entry: LockedEntry) -> list[dict[str, object]]:
    parts: list[dict[str, object]] = [
        {
            "name": f"{entry.kind} {entry.name}",
            "uri": entry.source,
            "digest": {"sha256": entry.digest},
        }
    ]
    if entry.pull:
        parts.append(
            {
                "name": f"head of pull request {entry.pull.number}",
                "uri": f"git+{VLLM}@refs/pull/{entry.pull.number}/head",
                "digest": {"gitCommit": entry.pull.head},
            }
        )
    parts += [
        {"name": f"fix of {fix.path}", "uri": fix.file, "digest": {"sha256": fix.digest}}
        for fix in entry.fixes
        if fix.state != "unfit"
    ]
    return parts


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
