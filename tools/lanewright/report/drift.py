"""What an update of a pull request did to its hunks, as a person would say it."""

from collections.abc import Iterator, Sequence

from lanewright.queue.pull.drifted import Drifted
from lanewright.report.outcome import counted


def told_drift(found: Sequence[Drifted]) -> Iterator[str]:
    """Each hunk that is another one now, with its difference below; those that are not, counted."""
    same = [each for each in found if each.what == "same"]
    if same:
        paths = {each.path for each in same}
        yield f"  {'same':8} {counted(len(same), 'hunk')} in {counted(len(paths), 'file')}"
    yield from (_told(each) for each in found if each.what != "same")


def _told(each: Drifted) -> str:
    became = f" -> {each.now}" if each.now else ""
    where = f" in {each.symbol}" if each.symbol else ""
    difference = "".join(f"\n    {line}" for line in each.difference.splitlines())
    return f"  {each.what:8} {each.path}:{each.id}{became}{where}{difference}"
