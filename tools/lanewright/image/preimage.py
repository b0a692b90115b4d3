"""A base image against the pin: what the lane changes must be there as the pin has it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from lanewright.errors import LanewrightError
from lanewright.image.layer import compiled_of, folders_of
from lanewright.image.opened.contents import Found
from lanewright.image.told_version import VERSION_FILE, version_in
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.store.objects import File, blob_id, changes, files
from lanewright.terminal import quoted

PACKAGES = ("site-packages", "dist-packages")
MOST_TOLD = 20


def require_preimage(
    repository: Repository, lock: Lock, base: Mapping[str, Found], name: str
) -> None:
    """Check that a layer of the lane means on a base what it means on the pin.

    Every file that it replaces or removes is the pin's there, every file that it adds is absent,
    and what it leaves alone is the pin's too, where the base has it: so that the whole of ``vllm/``
    is the lane's tree, and compiled files.

    Args:
        repository: The store.
        lock: Of the lane.
        base: Every path of the base.
        name: The base, for people.

    Raises:
        LanewrightError: It is not; the message names each file and both ids.
    """
    root = _site_packages(lock, base, name)
    told = list(_unlike(repository, lock, base, root))
    if told:
        more = f"\n  and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
        lines = "\n".join(f"  {each}" for each in told[:MOST_TOLD])
        content = base.get(f"{root}/{VERSION_FILE}")
        version = version_in(content.text) if content else None
        raise LanewrightError(
            f"lane {lock.lane}: base {name} is not of its pin {lock.pin.ref}"
            f"{f' (its vLLM is {version})' if version else ''}:\n{lines}{more}",
            hint="take a base that was made of the pin, or move the lane to the base's commit"
            f" (`lanewright rebase --to REF --lane {quoted(lock.lane)}`)",
        )


def _site_packages(lock: Lock, base: Mapping[str, Found], name: str) -> str:
    """Where the base has vLLM, relative to its root; the lane must say the same.

    Raises:
        LanewrightError: It has none, several, or one elsewhere or behind a link.
    """
    said = layer_of(lock).site_packages
    roots = sorted(
        path.removesuffix("/vllm/__init__.py")
        for path, found in base.items()
        if found.kind == "file" and path.endswith("/vllm/__init__.py")
    )
    roots = [root for root in roots if root.rpartition("/")[2] in PACKAGES]
    if not roots:
        raise LanewrightError(
            f"base {name} has no vLLM: no folder of packages has vllm/__init__.py"
        )
    if len(roots) > 1:
        there = ", ".join(f"/{root}" for root in roots)
        raise LanewrightError(
            f"base {name} has vLLM in several places: {there}",
            hint="take a base with one; which of them is served cannot be told from its files",
        )
    root = roots[0]
    if f"/{root}" != said:
        raise LanewrightError(
            f"lane {lock.lane}: base {name} has vLLM in /{root}, and its series says {said}",
            hint=f'say site_packages = "/{root}" in [image] of series/{lock.lane}.toml, then'
            f" `lanewright build {quoted(lock.lane)}`",
        )
    for path in (*_above(root), root, f"{root}/vllm"):
        found = base.get(path)
        if found and found.kind != "folder":
            raise LanewrightError(f"base {name} has vLLM behind /{path}, which is a {found.kind}")
    return root


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _unlike(
    repository: Repository, lock: Lock, base: Mapping[str, Found], root: str
) -> Iterator[str]:
    pin = files(repository, lock.pin.tree)
    changed = changes(repository, lock.pin.tree, lock.tree)
    had, said = folders_of(pin), layer_of(lock).site_packages
    for path in sorted(pin.keys() | changed.keys()):
        found = base.get(f"{root}/{path}")
        yield from _of_file(path, pin.get(path), found, is_changed=path in changed)
        if path in changed:
            hidden = compiled_of(path, said, had)
            is_removed = changed[path][1] is None
            yield from _bytecode(path, base, root, hidden, is_removed=is_removed)
    packages = {path.partition("/")[0] for path in changed} - {"vllm"}
    for package in sorted(packages & folders_of(changed)):
        if f"{root}/{package}" in base:
            yield f"{package} is in the base, and the lane adds it: it must be absent"
    yield from _shadowed({*pin, *(path for path, (_, new) in changed.items() if new)}, base, root)
    version = base.get(f"{root}/{VERSION_FILE}")
    if version is None or version.kind != "file":
        yield f"{VERSION_FILE} is missing in the base: every wheel of vLLM has it"


def _shadowed(wanted: set[str], base: Mapping[str, Found], root: str) -> Iterator[str]:
    """What Python would import in the place of a module: a package or a compiled one of its name."""
    modules = {path.removesuffix(".py") for path in wanted if path.endswith(".py")}
    for path in base:
        if path.startswith(f"{root}/vllm/") and path.endswith((".so", "/__init__.py")):
            inside = path.removeprefix(f"{root}/")
            folder, _, name = inside.rpartition("/")
            stem = folder if name == "__init__.py" else f"{folder}/{name.partition('.')[0]}"
            if stem in modules and inside not in wanted:
                yield f"{inside} is in the base, and Python would import it for {stem}.py"


def _of_file(
    path: str, pinned: File | None, found: Found | None, *, is_changed: bool
) -> Iterator[str]:
    what = _id(found)
    if pinned is None:
        if found is not None:
            yield f"{path} is {what} in the base, and the lane adds it: it must be absent"
    elif found is None:
        # A wheel leaves out what is no code: what nobody changes may be missing.
        if is_changed or path.endswith(".py"):
            yield f"{path} is absent in the base, and {pinned.blob} in the pin"
    elif pinned.mode == "120000":
        if found.kind != "link" or blob_id(found.id.encode()) != pinned.blob:
            yield f"{path} is {what} in the base, and a link in the pin, {pinned.blob}"
    elif found.id != pinned.blob or found.kind != "file":
        yield f"{path} is {what} in the base, and {pinned.blob} in the pin"


def _id(found: Found | None) -> str:
    if found is None:
        return "absent"
    if found.kind == "link":
        return f"a link to {found.id}"
    return found.id if found.kind == "file" and found.id else f"a {found.kind}"


def _bytecode(
    path: str, base: Mapping[str, Found], root: str, hidden: Sequence[str], *, is_removed: bool
) -> Iterator[str]:
    """What Python could run of a changed module without a look at its source."""
    folder, _, name = path.rpartition("/")
    if not name.endswith(".py"):
        return
    stem = name.removesuffix(".py")
    if is_removed and f"{root}/{folder}/{stem}.pyc" in base:
        yield f"{folder}/{stem}.pyc is in the base: Python would run it, and {path} is removed"
    inside = re.compile(
        rf"{re.escape(f'{root}/{folder}/__pycache__/{stem}')}\.[^/.]+(\.opt-\d)?\.pyc"
    )
    # Where the folder of packages does not tell whose it is, no layer can hide them.
    for left in () if hidden else sorted(filter(inside.fullmatch, base)):
        yield f"{left.removeprefix(f'{root}/')} is in the base, and may hide {path}"
