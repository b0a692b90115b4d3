"""What ``[image.run]`` may not ask for: what opens the container, or puts another vLLM into it."""

import posixpath
from collections.abc import Iterable, Mapping

from lanewright.errors import LanewrightError

# Of Linux; each may be asked for by its name, so that who reads the series sees it.
NAMES = (
    "AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE"
    " DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN"
    " MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID"
    " SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE"
    " SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM"
)
CAPABILITIES = frozenset(NAMES.split())
# By which Python finds modules, or a shell programs, elsewhere than where the image has them.
FINDING = {
    "PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONPLATLIBDIR",
    "PYTHONPYCACHEPREFIX",
    "PYTHONUSERBASE",
}
SYSTEM = {"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"}
# Programs and modules, wherever an image has its Python.
PROGRAMS = {"bin", "sbin", "site-packages", "dist-packages"}
# What a container of ours mounts itself; what a lane has below /tmp is its own.
MODELS, TEMPORARY = ("lane",), ("tmp",)
HOME = "/tmp"  # noqa: S108 - of the container


def check_capabilities(names: Iterable[str], place: str) -> None:
    """Check that each is one capability of Linux, with or without ``CAP_``.

    Raises:
        LanewrightError: One is none, or all of them.
    """
    for name in names:
        if name.upper().removeprefix("CAP_") == "ALL":
            raise LanewrightError(
                f"{place} cap_add: {name!r} is every capability, and the container has none",
                hint='name those that the lane needs, such as "SYS_NICE"',
            )
        if name.removeprefix("CAP_") not in CAPABILITIES:
            raise LanewrightError(
                f'{place} cap_add: {name!r} is not a capability such as "SYS_NICE"'
            )


def check_variables(names: Iterable[str], place: str) -> None:
    """Check that no variable has the container import another vLLM than its image's.

    Raises:
        LanewrightError: One does.
    """
    for name in names:
        if name in FINDING or name.startswith("LD_"):
            raise LanewrightError(
                f"{place} environment: {name} changes what is loaded: it could be another vLLM than"
                " the one in the image",
                hint="take it out; what a base needs it says itself",
            )


def check_volumes(
    places: Iterable[str], environment: Mapping[str, str], site_packages: str, place: str
) -> None:
    """Check that volumes hide nothing of the image that is run, and are each in a place of their own.

    Args:
        places: Absolute paths in the container.
        environment: Its variables, which may say whose home it has.
        site_packages: Where the image has vLLM; empty where that is not known.
        place: Of the table, for people.

    Raises:
        LanewrightError: One does, or leads elsewhere by ``..``.
    """
    home = posixpath.normpath(environment.get("HOME", HOME))
    kept = [
        (_parts(site_packages), "vLLM is there"),
        (_parts(f"{home}/.local"), "Python looks there for packages first"),
    ]
    kept += [(where, "the image's Python is there") for where in _of_python(site_packages)]
    taken: dict[tuple[str, ...], str] = {}
    for path in places:
        parts = _parts(path)
        why = f"and {taken[parts]!r} are one place" if parts in taken else _why_not(parts, kept)
        if why:
            raise LanewrightError(
                f"{place} volumes: {path!r} {why}",
                hint='a volume is for what outlives the container, such as "/root/.cache"',
            )
        taken[parts] = path


def _why_not(parts: tuple[str, ...], kept: list[tuple[tuple[str, ...], str]]) -> str:
    """Why there can be no volume; empty where there can."""
    if ".." in parts:
        return "leads elsewhere by `..`"
    if not parts:
        return "is the root of the container, which is the image's"
    if parts == TEMPORARY or parts[:1] == MODELS:
        return f"is where a container of a lane has /{parts[0]} of its own"
    for other, what in kept:
        if other and _meet(parts, other):
            return f"would hide what is in /{'/'.join(other)}: {what}"
    if parts[0] in SYSTEM:
        return f"is in /{parts[0]}, which is the image's"
    return "would hide programs or modules of the image" if parts[-1] in PROGRAMS else ""


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _of_python(site_packages: str) -> list[tuple[str, ...]]:
    """Folders of the environment that has those packages."""
    parts = _parts(site_packages)
    if "lib" not in parts:
        return []
    prefix = parts[: parts.index("lib")]
    return [(*prefix, name) for name in ("bin", "lib", "lib64")]


def _meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one is the other, above it or in it."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
