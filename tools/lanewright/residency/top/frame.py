"""One frame: what the whole model does, and a table of its layers that fits the terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from expert_bank.sizes import told
from lanewright.residency.top.rows import Row, Stats, percent, rows, safe
from lanewright.residency.top.source import age
from lanewright.serve.staging import told_refused

# In their order; when the terminal is too narrow, the last of ``LEFT_OUT`` go first.
COLUMNS = ("hot", "picks", "cold", "boot", "oracle", "regret", "swaps")
LEFT_OUT = ("cold", "picks", "regret", "hot", "oracle", "boot", "swaps")
GAP = 2
LEAST_NAME = 5
NOTABLE, HIGH = 0.02, 0.05
STATES = {
    "follows": ("following", "green"),
    "boot map": ("back at the boot map", "yellow"),
    "frozen": ("frozen", "cyan"),
    "still": ("stands still", "cyan"),
    "ended": ("follows no more", "red"),
}


def frame(
    stats: Stats, before: Stats | None, *, width: int, height: int | None = None
) -> RenderableType:
    """Draw stats.

    Args:
        stats: Checked ones.
        before: Those of the last frame.
        width: Columns of the terminal.
        height: Lines of it; None for as many as there are layers.
    """
    head = [_line(each) for each in _head(stats)]
    found = rows(stats, before)
    shown = _fitting(found, None if height is None else height - len(head) - 2)
    more = len(found) - len(shown)
    tail = [_line(Text(f"{more} more layers with less regret; --once shows all"))] if more else []
    return Group(*head, _table(shown, width), *tail)


def _head(stats: Stats) -> Iterator[Text]:
    word, style = STATES.get(stats["state"], (safe(stats["state"]), ""))
    yield Text.assemble((word, f"bold {style}"), "  ", safe(stats["model"]))
    cold, regret = stats["cold"], stats["regret"]
    yield Text(
        f"forward {stats['forwards']:,}, {stats['tokens']:,} tokens, {age(stats):.0f} s ago;"
        f" regret {percent(regret['late'])}, {regret['served'] - regret['oracle']:,} picks so far"
    )
    late = ", ".join(f"{name} {percent(cold[name])}" for name in ("boot", "oracle", "null"))
    yield Text(f"cold: {percent(cold['late'])} of late ({late}), {percent(cold['so_far'])} so far")
    done, guard = stats["swapping"], stats["guard"]
    turns = f"; {guard['fallbacks']} fallbacks, {guard['returns']} returns"
    yield Text(
        f"{done['swaps']:,} swaps, {told(done['bytes'])}, {done['failed']} failed, {done['cut']}"
        f" cut, {done['waiting']} waiting{turns}"
    )
    yield Text(
        f"{done['seconds']:.2f} s at {done['barriers']:,} barriers,"
        f" {stats['deciding_seconds']:.2f} s deciding"
    )
    if (staging := stats["staging"]) is not None:
        yield Text(_staged(staging))


def _staged(staging: Stats) -> str:
    """Tell what a staging buffer did."""
    least = staging["least_tokens"]
    begins = "no step is long enough" if least is None else f"from {least:,} tokens on"
    state = begins if staging["on"] else "off"
    return (
        f"staging, {state}: {staging['steps']:,} steps, {told(staging['bytes'])},"
        f" {staging['late']:,} rows late; in place {told_refused(staging)}"
    )


def _line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _fitting(found: Sequence[Row], lines: int | None) -> list[Row]:
    """Those with the most regret, where not all fit; in the model's order."""
    if lines is None or len(found) <= lines:
        return list(found)
    order = sorted(range(len(found)), key=lambda each: -(found[each].regret or 0.0))
    return [found[each] for each in sorted(order[: max(lines - 1, 1)])]


def _table(found: Sequence[Row], width: int) -> Table:
    widths = {name: max(len(name), *(len(row.cells[name]) for row in found)) for name in COLUMNS}
    kept = list(LEFT_OUT)
    while len(kept) > 1 and LEAST_NAME + sum(widths[each] + GAP for each in kept) > width:
        kept.pop()
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    table.add_column("layer", no_wrap=True, overflow="ellipsis")
    for name in COLUMNS:
        if name in kept:
            table.add_column(name, justify="right", no_wrap=True, min_width=widths[name])
    for row in found:
        cells = [Text(row.cells[name]) for name in COLUMNS if name in kept]
        table.add_row(Text(row.name), *cells, style=_style(row.regret))
    return table


def _style(regret: float | None) -> str:
    if regret is None or regret < NOTABLE:
        return ""
    return "red" if regret >= HIGH else "yellow"
