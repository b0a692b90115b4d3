"""What of a text is of one person or one machine, and the words that take its place."""

import json
import os
import platform
import pwd
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lanewright.places import Places
from lanewright.project import Project

HOME, PROJECT, STATE, STORE, USER, HOST = "~", "PROJECT", "STATE", "STORE", "USER", "HOST"
TAKEN = "TAKEN-OUT"
# Nobody's own, words of every log, and what a record or a report may say in a place.
COMMON = frozenset(
    {
        "admin",
        "carried",
        "changed",
        "clean",
        "compiled",
        "conflict",
        "conflicts",
        "cpu",
        "cuda",
        "daemon",
        "default",
        "differs",
        "docker",
        "drift",
        "eager",
        "equal",
        "failed",
        "file",
        "fix",
        "fixed",
        "github",
        "gpu",
        "home",
        "host",
        "inconclusive",
        "landed",
        "lane",
        "lanewright",
        "left",
        "localhost",
        "merged",
        "missing",
        "model",
        "nobody",
        "none",
        "not",
        "out",
        "overlay",
        "passed",
        "patch",
        "pending",
        "pull",
        "python",
        "replayed",
        "root",
        "run",
        "runner",
        "selected",
        "server",
        "service",
        "stale",
        "state",
        "store",
        "system",
        "test",
        "tests",
        "torch",
        "ubuntu",
        "unfit",
        "unneeded",
        "user",
        "users",
        "vllm",
        "watched",
        "worker",
    }
)
SHORTEST_NAME, SHORTEST_SECRET = 3, 8
LEAST_PARTS = 3  # of a path: the root, and two folders
SECRETS = re.compile(
    r"TOKEN|SECRET|PASSW(?:OR)?D|CREDENTIAL|API_?KEY|(?:^|_)(?:PASS|KEYS?|PAT)(?:_|$)"
)
# A secret may begin with a slash, too; one of AWS has 40 characters.
PATH = re.compile(r"(?:/[\w.@~-]+)+/?")
OF_AWS = 40
# In JSON a letter stands before what begins a line, as in \n/home.
FRONT = rb"(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt]))"
VALUE = rb"[^\s\"'\\,;&<>]"
OTHERS_HOME = re.compile(
    rb"/(?:home|Users)/(?:[^/\s\"'\\:,;()\[\]{}<>]|\\u[0-9a-fA-F]{4})+|/root(?![A-Za-z0-9_-])"
)
# Each is what stays, and what is taken out behind it.
TAKEN_OUT = [
    re.compile(rb"([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^\s/\"'\\<>]+(?=@)"),
    re.compile(
        rb"(?i)([?&](?:[a-z_-]*token|[a-z_-]*key|sig|signature|password|secret|x-amz-[a-z-]+)=)"
        + VALUE
        + rb"+"
    ),
    re.compile(rb"(?i)(authorization[\"'\\]*\s*[:=]\s*[\"'\\]*(?:[a-z]+\s+)?)" + VALUE + rb"{6,}"),
    re.compile(rb"(?i)(bearer\s+)[a-z0-9._~+/=-]{12,}"),
    re.compile(
        rb"(?i)((?:api[_-]?key|passw(?:or)?d|secret|(?:access|auth|hf|github|gh)[_-]?token)[\"'\\]*"
        rb"\s*[:=]\s*[\"'\\]*)" + VALUE + rb"{6,}"
    ),
    re.compile(rb"(--api-key[\"'\\]*[\s,=]+[\"'\\]*)" + VALUE + rb"{6,}"),
    re.compile(
        rb"(" + FRONT + rb")(?:gh[opsru]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|hf_[A-Za-z0-9]{20,}"
        rb"|sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{16,}"
        rb"|AKIA[0-9A-Z]{16}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*)"
    ),
    # Up to whatever begins so, which is its end, else another.
    re.compile(rb"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)(?:[^-]|-(?!----))*+"),
]


@dataclass(frozen=True)
class Private:
    """What is replaced, by what.

    Attributes:
        paths: Folders, and what stands for each.
        names: Of users and hosts, the same.
        secrets: Values of variables of the environment.
    """

    paths: Mapping[bytes, str]
    names: Mapping[bytes, str]
    secrets: frozenset[bytes]

    def replaced(self, content: bytes) -> tuple[bytes, dict[str, int]]:
        """A text without what is private, and how often each word took its place."""
        counts: Counter[str] = Counter()

        def word(told: str) -> bytes:
            counts[told] += 1
            return told.encode()

        def taken(found: re.Match[bytes]) -> bytes:
            counts[TAKEN] += 1
            return found[1] + TAKEN.encode()

        if self.secrets:
            content = _any(self.secrets).sub(lambda _: word(TAKEN), content)
        for pattern in TAKEN_OUT:
            content = pattern.sub(taken, content)
        if self.paths:
            pattern = re.compile(_any(self.paths).pattern + rb"(?![A-Za-z0-9_-])")
            content = pattern.sub(lambda found: word(self.paths[found[0]]), content)
        content = OTHERS_HOME.sub(lambda _: word(HOME), content)
        if self.names:
            # As in /tmp/torchinductor_NAME.
            front = FRONT.replace(b"_", b"")
            pattern = re.compile(front + _any(self.names).pattern + rb"(?![A-Za-z0-9])")
            content = pattern.sub(lambda found: word(self.names[found[0]]), content)
        return content, dict(sorted(counts.items()))


def private(
    places: Places, project: Project | None, others: Iterable[tuple[str, str]] = ()
) -> Private:
    """What is private here.

    Args:
        places: Store and state.
        project: The user's project, if there is one.
        others: Paths that a run or night names as its own, which may be another machine's, each
            with what stands for it.
    """
    roots = [*others, *_own(places, project)]
    paths = {
        spelled: word
        for path, word in roots
        if len(Path(path).parts) >= LEAST_PARTS and Path(path).is_absolute()
        for spelled in _spelled(path.rstrip("/"))
    }
    return Private(paths, dict(_names()), frozenset(_secrets()))


def _own(places: Places, project: Project | None) -> Iterator[tuple[str, str]]:
    """This machine's folders; of one that has two words the last counts."""
    folders = [*((home, HOME) for home in _homes()), (places.store, STORE), (places.state, STATE)]
    folders += [(project.root, PROJECT)] if project else []
    for folder, word in folders:
        yield from dict.fromkeys([(str(folder), word), (str(folder.resolve()), word)])


def _homes() -> Iterator[Path]:
    for home in (os.environ.get("HOME"), _account("pw_dir")):
        if home and Path(home).is_absolute():
            yield Path(home)


def _account(what: str) -> str:
    try:
        return str(getattr(pwd.getpwuid(os.getuid()), what))
    except KeyError:  # of a container's own number
        return ""


def _names() -> Iterator[tuple[bytes, str]]:
    host = platform.node()
    users = [
        _account("pw_name"),
        *(os.environ.get(n, "") for n in ("USER", "LOGNAME", "SUDO_USER")),
    ]
    found = [(user, USER) for user in users]
    # As folders that are being made have it, too.
    hosts = (host, host.partition(".")[0], re.sub(r"[^A-Za-z0-9]", "_", host))
    found += [(name, HOST) for name in hosts]
    for name, word in found:
        if len(name) >= SHORTEST_NAME and name.lower() not in COMMON and not name.isdecimal():
            yield os.fsencode(name), word


def _secrets() -> Iterator[bytes]:
    for name, value in os.environ.items():
        # A path is told as one.
        is_path = PATH.fullmatch(value) and len(value) != OF_AWS
        odd = len(value) < SHORTEST_SECRET or is_path
        if SECRETS.search(name.upper()) and not odd:
            yield from _spelled(value)


def _spelled(text: str) -> Iterator[bytes]:
    """A text as it stands in a log, in JSON and in an address."""
    raw = os.fsencode(text)
    yield from dict.fromkeys([raw, json.dumps(text)[1:-1].encode(), quote(raw).encode()])


def _any(some: Iterable[bytes]) -> re.Pattern[bytes]:
    """One of these; of two that begin alike the longer."""
    longest = sorted(some, key=lambda each: (-len(each), each))
    return re.compile(rb"(?:" + rb"|".join(map(re.escape, longest)) + rb")")
