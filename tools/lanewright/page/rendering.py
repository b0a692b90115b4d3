"""Templates: every value that they print is made fit to be shown, and escaped."""

from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lanewright.page.links import Links
from lanewright.page.shown import brief, first_line, fit, shown, took, when
from lanewright.page.sides import of_diff, three
from lanewright.page.troubles import gravest, summary, troubles_of
from lanewright.report.laid import folded
from lanewright.report.words import turned, what_of

TEMPLATES = Path(__file__).with_name("templates")
MIB = 2**20
Render = Callable[..., bytes]


def renderer(links: Links) -> Render:
    """What makes a page of a template's name and of what it shows, as UTF-8."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        # Whatever a template is called.
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "shown": shown,
        "brief": brief,
        "first_line": first_line,
        "took": took,
        "when": when,
        "gravest": gravest,
        "summary": summary,
        "troubles": troubles_of,
        "of_diff": of_diff,
        "three": three,
        "turned": lambda entry: list(turned(entry)),
        "folded": folded,
        "what_of": lambda hunk: list(what_of(hunk)),
        "mib": lambda size: f"{size / MIB:,.1f} MiB",
    }
    environment.globals["links"] = links

    def render(name: str, *, up: str = "", **shows: object) -> bytes:
        text = environment.get_template(name).render(up=up, **shows)
        return text.encode("utf-8", "replace")

    return render


def _finalized(value: object) -> object:
    """What is not a template's own is text of others."""
    if isinstance(value, Markup):
        return value
    return fit(value if isinstance(value, str) else str(value))
