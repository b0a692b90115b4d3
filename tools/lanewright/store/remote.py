"""Upstream's git remotes: which urls and names are taken from outside, and where refs are kept."""

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from lanewright.errors import LanewrightError

ODD = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
USER = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
SCP_FORM = re.compile(rf"{USER}@{HOST}:[^:\s-]\S*")
PROTOCOLS = ("https", "ssh", "file", "git")
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
FORMS = (
    "write https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH, file:///PATH,"
    " or an absolute path"
)
FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//|/$|\.$|^/|^-|^@$|^$")
KEPT = re.compile(r"refs/(heads|tags)/(.+)|refs/(pull)/([1-9][0-9]*)/head")


@dataclass(frozen=True)
class Remote:
    """A git remote, named by its url; make it with ``remote_of``.

    Attributes:
        url: As it is written where it was read.
    """

    url: str

    @property
    def key(self) -> str:
        """Names the remote in the store: its refs are under ``refs/upstream/<key>/``."""
        return hashlib.sha256(self.url.encode()).hexdigest()[:12]

    @property
    def protocol(self) -> str:
        """The one protocol that git may speak to it.

        Raises:
            LanewrightError: The url is none that ``remote_of`` takes.
        """
        rule = _broken_rule(self.url)
        if rule:
            raise LanewrightError(f"the url {shown(self.url)} {rule}", hint=FORMS)
        if self.url.startswith("/"):
            return "file"
        return "ssh" if SCP_FORM.fullmatch(self.url) else urlsplit(self.url).scheme

    @property
    def path(self) -> str | None:
        """Where it is on this machine, or None."""
        if self.protocol != "file":
            return None
        return self.url if self.url.startswith("/") else unquote(urlsplit(self.url).path)

    def kept_as(self, ref: str) -> str:
        """The ref that the store keeps for a ref of the remote.

        Args:
            ref: ``refs/heads/<branch>``, ``refs/tags/<tag>`` or ``refs/pull/<number>/head``.

        Raises:
            LanewrightError: It is another ref, or no valid one.
        """
        check_ref(ref, place=self.url)
        match = KEPT.fullmatch(ref)
        if not match:
            raise LanewrightError(
                f"{self.url}: {ref} is no branch, tag or head of a pull request",
                hint="name refs/heads/BRANCH, refs/tags/TAG or refs/pull/NUMBER/head",
            )
        kind, name = match[1] or match[3], match[2] or match[4]
        check_ref(name, place=self.url)
        return f"refs/upstream/{self.key}/{kind}/{name}"

    def commit_ref(self, commit: str) -> str:
        """The ref that the store keeps for a commit that was asked for by id."""
        return f"refs/upstream/{self.key}/commits/{commit}"


def remote_of(url: str, *, place: str) -> Remote:
    """Take a url that was written by people.

    Args:
        url: https, ssh (``git@host:path`` too), file or an absolute path; git:// on loopback.
        place: File and key where it was read, for the message.

    Raises:
        LanewrightError: It has another form, or holds credentials.
    """
    rule = _broken_rule(url)
    if rule:
        raise LanewrightError(f"{place}: the url {shown(url)} {rule}", hint=FORMS)
    return Remote(url)


def check_ref(name: str, *, place: str) -> str:
    """Give the name of a branch, tag, ref or commit back if git takes it as one and nothing else.

    Args:
        name: As it was read.
        place: File and key where it was read, for the message.

    Raises:
        LanewrightError: git would refuse it as a ref's name, or read it as an option or a range.
    """
    parts = name.split("/")
    if FORBIDDEN.search(name) or any(p.startswith(".") or p.endswith(".lock") for p in parts):
        raise LanewrightError(
            f"{place}: {name!r} is no name of a branch, tag or commit",
            hint="see `git check-ref-format --help` for what git takes; none begins with -",
        )
    return name


def shown(url: str) -> str:
    """A url for a message: quoted, and without what may be a password."""
    return repr(re.sub(r"(://)[^/]*@", r"\1...@", url))


def _broken_rule(url: str) -> str | None:
    if ODD.search(url):
        return "holds a control character, or a byte that is no UTF-8"
    if url.startswith("-"):
        return "begins with -, so git would read it as an option"
    if url.startswith("/") or SCP_FORM.fullmatch(url):
        return None
    if not url.startswith(tuple(f"{protocol}://" for protocol in PROTOCOLS)):
        return "is of a form that is not allowed"
    return _broken_url(url)


def _broken_url(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host, password = parts.hostname or "", parts.password
        _ = parts.port
    except ValueError as error:
        return f"cannot be read: {error}"
    if any(letter.isspace() for letter in url) or parts.query or parts.fragment:
        return "holds a blank, a query or a fragment"
    if password is not None or (parts.scheme == "https" and parts.username is not None):
        return "holds credentials, which would end in locks and logs"
    return _broken_host(parts, host)


def _broken_host(parts: SplitResult, host: str) -> str | None:
    if parts.scheme == "file":
        return "names a host, or no absolute path" if parts.netloc or not parts.path else None
    if parts.scheme == "git" and host not in LOOPBACK:
        return "is plain text, so it is allowed on this machine alone"
    user = parts.username is None or re.fullmatch(USER, parts.username)
    if not user or not (re.fullmatch(HOST, host) or ":" in host):
        return "names no host, or an odd user or host"
    return None if parts.path.strip("/") else "names no path"
