"""Which addresses a page links to: its own files, and https pages of upstream's host."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from lanewright.invisible import UNSHOWN
from lanewright.project import Project
from lanewright.report.about import page

LONGEST = 500


@dataclass(frozen=True)
class Links:
    """Addresses of upstream's.

    Attributes:
        upstream: Of its repository's pages; empty where it has none.
        pulls: Numbers of pull requests that have a page here.
    """

    upstream: str
    pulls: frozenset[int]

    @classmethod
    def of(cls, project: Project, pulls: frozenset[int]) -> "Links":
        """By what ``upstream.toml`` says."""
        return cls(page(project), pulls)

    def outside(self, url: str) -> str:
        """An address if it is one of upstream's host, else nothing: then there is no link."""
        if not self.upstream or not url or len(url) > LONGEST or UNSHOWN.search(url):
            return ""
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        # The whole of what stands before the path: no user, no port, no other name.
        same = parts.scheme == "https" and parts.netloc == urlsplit(self.upstream).netloc
        plain = url.isascii() and not any(mark in url for mark in " \"'<>\\`\n\t")
        return url if same and plain else ""

    def pull(self, number: int) -> str:
        """Upstream's page of a pull request."""
        return self.outside(f"{self.upstream}/pull/{number}") if self.upstream else ""
