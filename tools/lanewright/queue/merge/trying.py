"""Units of a change, each with the three sides that it is merged alone with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanewright.queue.merge.choose import each_alone
from lanewright.queue.merge.subset import apply, split_lines
from lanewright.queue.merge.text import Text
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.queue.merge.windows import MARGIN, MOST_BYTES, Window, large_windows
from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs
from lanewright.store.write import Content, write_blobs


@dataclass(frozen=True)
class Tried:
    """A unit, and its file when no other unit is taken; of a large file, a window of it.

    Attributes:
        unit: It.
        base: The file on the change's base.
        ours: The file that it is merged onto.
        theirs: The file with the unit in place; None where it removes it.
        texts: The two files, whole.
        window: The part of them that is tried.
    """

    unit: Unit
    base: File | None
    ours: File | None
    theirs: Content | None
    texts: tuple[Text, Text]
    window: Window | None = None


def tried(
    repository: Repository,
    on_base: OnBase,
    units: Sequence[Unit],
    current: Mapping[str, File],
    *,
    most: int = MOST_BYTES,
    margin: int = MARGIN,
) -> list[Tried]:
    """Each unit with its sides; see ``large_windows`` for the limits."""
    cut = large_windows(repository, on_base, units, current, most, margin)
    whole = [unit for unit in units if unit.id not in cut]
    blobs = read_blobs(repository, [current[u.path].blob for u in whole if u.path in current])
    lines = {blob: split_lines(content) for blob, content in blobs.items()}
    texts: dict[str, tuple[Text, Text]] = {}
    found = []
    for unit, alone in zip(whole, each_alone(on_base, whole), strict=True):
        path = unit.path
        base, ours = on_base.sides[path], current.get(path)
        if path not in texts:
            here = lines[ours.blob] if ours else []
            texts[path] = (Text(path, on_base.contents[path]), Text(path, here))
        found.append(Tried(unit, base, ours, alone, texts[path]))
    inside = [unit for unit in units if unit.id in cut]
    return [*found, *_in_windows(repository, on_base, inside, current, cut)] if cut else found


def _in_windows(
    repository: Repository,
    on_base: OnBase,
    units: Sequence[Unit],
    current: Mapping[str, File],
    cut: Mapping[str, Window],
) -> Iterator[Tried]:
    files = {file.path: file for file in on_base.diff.files}
    texts = [lines for unit in units for lines in (cut[unit.id].base, cut[unit.id].ours)]
    blobs = iter(write_blobs(repository, [b"".join(lines) for lines in texts]))
    for unit in units:
        window, side = cut[unit.id], on_base.sides[unit.path]
        mode = side.mode if side else ""
        alone = apply(
            list(window.base),
            files[unit.path],
            [window.hunk],
            source=on_base.diff.source,
            base_name=on_base.base_name,
        )
        base, ours = File(mode, next(blobs)), File(current[unit.path].mode, next(blobs))
        yield Tried(unit, base, ours, Content(mode, alone), window.texts, window)
