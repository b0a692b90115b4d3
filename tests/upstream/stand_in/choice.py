"""Which files and lines a pull request edits: chosen by upstream's own diff, in any two trees."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.upstream.stand_in.between import Between
from tests.upstream.stand_in.points import Point, is_python, points
from tests.upstream.stand_in.regions import Region
from tests.upstream.stand_in.specs import Hunk, PullSpec, Touched

# Lines between an edit and what it must not meet: hunks show three lines around a change.
CLEAR = 4
APART = 10
AT_ONCE = 64


@dataclass(frozen=True)
class Placed:
    """A hunk of a specification and where it goes."""

    hunk: Hunk
    point: Point


@dataclass(frozen=True)
class Chosen:
    """A file to edit."""

    path: str
    mode: str
    source: bytes
    placed: tuple[Placed, ...]


def choose(where: Between, spec: PullSpec) -> list[Chosen]:
    """A file and lines for every edit of a specification; the same ones every time."""
    taken: set[str] = set()
    chosen = []
    for touched in spec.touched:
        candidates = _candidates(where, spec, touched.upstream)
        free = (path for path in candidates if path not in taken)
        found = next((each for path in free if (each := _placed(where, path, touched))), None)
        assert found is not None, f"#{spec.number}: no file for {touched}"
        taken.add(found.path)
        chosen.append(found)
    return chosen


def _candidates(where: Between, spec: PullSpec, upstream: str) -> Iterator[str]:
    """Python files that upstream did this to, the nearest first."""

    def rank(path: str) -> tuple[int, str]:
        near = [number for number, prefix in enumerate(spec.near) if path.startswith(prefix)]
        return (min(near, default=len(spec.near)), path)

    found = [path for path in where.base if path.endswith(".py") and where.stand(path) == upstream]
    ordered = sorted((path for path in found if path not in where.renamed), key=rank)
    for start in range(0, len(ordered), AT_ONCE):
        where.read_ahead(ordered[start : start + AT_ONCE])
        yield from ordered[start : start + AT_ONCE]


def _placed(where: Between, path: str, touched: Touched) -> Chosen | None:
    """A place in this file for every hunk, if it has them."""
    source = where.source(path)
    if not is_python(source):
        return None
    placed: list[Placed] = []
    for hunk in touched.hunks:
        point = next(_fitting(where, path, hunk, placed), None)
        if point is None:
            return None
        placed.append(Placed(hunk, point))
    return Chosen(path, where.base[path].mode, source, tuple(placed))


def _fitting(where: Between, path: str, hunk: Hunk, placed: list[Placed]) -> Iterator[Point]:
    changed = where.regions.get(path, []) if path in where.pin else []
    found = [
        point for point in points(where.source(path), hunk.scope) if _apart(point, hunk, placed)
    ]
    if hunk.conflicts:
        yield from (point for point in found if _kept_by_both(point, changed, where.target(path)))
        return
    clear = [point for point in found if _clear(point, changed)]
    if hunk.scope != "removal":
        yield from clear
        return
    source = where.source(path)
    unused = where.unused(p.owner for p in clear if source.count(p.owner.encode()) == 1)
    yield from (point for point in clear if point.owner in unused)


def _apart(point: Point, hunk: Hunk, placed: list[Placed]) -> bool:
    others = [each.point.at for each in placed]
    if hunk.above and any(point.at >= other for other in others):
        return False
    return all(abs(point.at - other) >= APART for other in others)


def _clear(point: Point, changed: list[Region]) -> bool:
    end = point.at + point.removed
    return all(end + CLEAR < each.old or point.at > each.old_end + CLEAR for each in changed)


def _kept_by_both(point: Point, changed: list[Region], target: bytes) -> bool:
    """Whether the edit meets an addition of upstream's, and both can be kept.

    A person then resolves it by taking the two sides, one after the other.
    """
    lines = target.splitlines(keepends=True)
    for each in changed:
        if each.removed == 0 and point.at == each.old:
            end = each.new + each.added
            probe = f"{point.indent}pass\n".encode()
            said = any(line.strip() for line in lines[each.new : end])
            return said and is_python(b"".join([*lines[:end], probe, *lines[end:]]))
    return False
