"""vLLM as an image has it: upstream's, and what was carried onto it."""

from cyclonedx.model import XsUri
from cyclonedx.model.component import (
    Commit,
    Component,
    ComponentType,
    Patch,
    PatchClassification,
    Pedigree,
)
from cyclonedx.model.issue import IssueClassification, IssueType, IssueTypeSource
from packageurl import PackageURL

from lanewright.image.stamps import VLLM, ToldEntry
from lanewright.queue.lock import Lock, layer_of


def vllm(lock: Lock, entries: list[ToldEntry]) -> Component:
    """The pin, with a patch for each entry of which hunks are carried."""
    upstream = Component(
        type=ComponentType.LIBRARY,
        name="vllm",
        version=lock.pin.version if lock.pin.source == "release" else lock.pin.commit,
        bom_ref="vllm upstream",
        purl=pin_url(lock),
    )
    carried = [entry for entry in entries if entry.kind != "overlay" and entry.hunks]
    commits = [entry.head for entry in carried if entry.head]
    if lock.pin.source == "git":
        commits.append(lock.pin.commit)
    return Component(
        type=ComponentType.LIBRARY,
        name="vllm",
        version=layer_of(lock).version or lock.pin.version,
        bom_ref="vllm",
        purl=pin_url(lock),
        pedigree=Pedigree(
            ancestors=[upstream],
            commits=[Commit(uid=each, url=XsUri(f"{VLLM}/commit/{each}")) for each in commits],
            patches=[_patch(entry) for entry in carried],
            notes=f"lane {lock.lane}: tree {lock.tree} of pin {lock.pin.ref}, tree {lock.pin.tree}",
        ),
    )


def pin_url(lock: Lock) -> PackageURL:
    """What a pin is called among packages: a release of an index, or a commit."""
    if lock.pin.source == "release":
        return PackageURL("pypi", None, lock.pin.distribution, lock.pin.version)
    return PackageURL("github", "vllm-project", "vllm", lock.pin.commit)


def _patch(entry: ToldEntry) -> Patch:
    by = ", ".join(f"{len(ids)} {outcome}" for outcome, ids in entry.hunks.items())
    said = f"hunks carried: {by}; sha256 {entry.digest}"
    change = IssueType(type=IssueClassification.ENHANCEMENT, name=entry.name, description=said)
    if entry.pull is not None:
        url = XsUri(f"{VLLM}/pull/{entry.pull}")
        change.id = str(entry.pull)
        change.source = IssueTypeSource(name="vllm-project/vllm", url=url)
        change.references.add(url)
    return Patch(type=PatchClassification.UNOFFICIAL, resolves=[change])
