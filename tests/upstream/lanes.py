"""What tests say of a lane's pin, and what they do to the upstream that it is fetched from."""

from lanewright.store.objects import CommitId
from tests.upstream.diff import git
from tests.upstream.fixtures import Carrying

RELEASE = 'pin = "release:0.31.0"\n'


def stand(carrying: Carrying, *lines: str, lane: str = "sample", image: str = "") -> None:
    """Give a lane these lines in place of its pin, and a table ``[image]``; nothing is built."""
    first = (carrying.root / "series/sample.toml").read_text()
    assert RELEASE in first
    text = first.replace(RELEASE, "".join(f"{line}\n" for line in lines))
    (carrying.root / f"series/{lane}.toml").write_text(text + image)


def pin_of(carrying: Carrying, lane: str = "sample") -> list[str]:
    """The lines of a lane's series that say what it stands on."""
    text = (carrying.root / f"series/{lane}.toml").read_text()
    return [line for line in text.splitlines() if line.startswith(("pin", "release"))]


def on_git(commit: str, release: str = "0.31.0") -> tuple[str, str]:
    """A git pin, and the release that goes with it."""
    return f'pin = "git:{commit}"', f'release = "{release}"'


def grow(carrying: Carrying, branch: str, base: str, files: dict[str, str]) -> CommitId:
    """Make a branch one commit with these files more than ``base``; without one, its first."""
    message = b"grow\n"
    parts = [b"commit refs/heads/%s\n" % branch.encode(), b"committer t <t@localhost> 1 +0000\n"]
    parts += [b"data %d\n%s" % (len(message), message)]
    parts += [b"from %s\n" % base.encode()] if base else []
    for path, text in files.items():
        raw = text.encode()
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(raw), raw))
    git(carrying.upstream, "fast-import", "--quiet", "--force", stdin=b"".join(parts))
    return CommitId(git(carrying.upstream, "rev-parse", f"refs/heads/{branch}").decode().strip())
