"""The lines that stand-in pull requests add: all our own, none of them upstream's."""

from collections.abc import Iterable

from tests.upstream.stand_in.choice import Chosen, Placed
from tests.upstream.stand_in.specs import PullSpec


def edited(spec: PullSpec, chosen: Chosen, *, version: int = 1, undone: bool = False) -> bytes:
    """A file with a pull request's edits.

    Args:
        spec: The pull request.
        chosen: The file and its places.
        version: Which version of the pull request.
        undone: Whether to make also the edits that its last commit takes back.
    """
    wanted = [
        each
        for each in chosen.placed
        if version in each.hunk.versions and (undone or not each.hunk.undone)
    ]
    lines = chosen.source.splitlines(keepends=True)
    for placed in sorted(wanted, key=lambda each: each.point.at, reverse=True):
        at, end = placed.point.at, placed.point.at + placed.point.removed
        lines[at:end] = [line.encode() + b"\n" for line in _lines(spec, placed, version)]
    return b"".join(lines)


def _lines(spec: PullSpec, placed: Placed, version: int) -> Iterable[str]:
    point, hunk = placed.point, placed.hunk
    again = version > 1 and hunk.reworded
    said = {
        "field": _field(spec),
        "keyword": [f"{spec.name}_rows: int = 0,"],
        "note": _note(spec, point.owner, again=again),
        "use": [f"{spec.name}_rows(0)"],
        "function": _function(spec, point.owner),
        "removal": [],
    }[hunk.scope]
    return [point.indent + line if line else "" for line in said]


def _field(spec: PullSpec) -> list[str]:
    return [f"{spec.name}_rows: int = 0", f'"""{spec.title}: how many; 0 is off."""']


def _note(spec: PullSpec, owner: str, *, again: bool) -> list[str]:
    when = "whenever it runs" if again else "here"
    return [
        f"# {spec.title}: what {owner} reads {when}",
        "# may lie in another row than its expert's number says.",
    ]


def _function(spec: PullSpec, owner: str) -> list[str]:
    return [
        f"def {spec.name}_rows(rows: int) -> int:",
        f'    """{spec.title}: rows that {owner} may use."""',
        "    return max(rows, 0)",
        "",
        "",
    ]
