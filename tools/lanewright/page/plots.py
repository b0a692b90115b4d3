"""Trends as SVG: the same bytes for the same numbers, in colours that follow the reader's own."""

import io
import logging
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from lanewright.history.speed_words import percent
from lanewright.page.trends import Line, Trend, values_of

WIDTH, HEIGHT = 5.0, 2.5
# Drawn in colours that stand for names, which a style in the file gives values, light and dark.
INK, GRID = "#010203", "#010204"
LINES = ("#010205", "#010206", "#010207", "#010208", "#010209", "#01020a")
NAMES = {INK: "ink", GRID: "grid", **{color: f"line-{n}" for n, color in enumerate(LINES)}}
LIGHT = ("#3b444d", "#d5dade", "#0b5cad", "#b3430e", "#1b7f4b", "#7a3fa0", "#8a6d00", "#b0215b")
DARK = ("#c3cbd3", "#3a424a", "#7db8f5", "#f0a06f", "#7fd3a3", "#c9a3ea", "#dcc463", "#f490b7")
# Bands of several lines lie on each other: their edges tell which is whose.
SHADE, EDGE = 0.1, 0.55
MARKERS = "osD^vP"
DASHES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))
MOST_LABELS = 6
FONT = "DejaVu Sans"
# Its keys are literals to matplotlib.
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lanewright",
    "font.family": FONT,
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


def drawn(trend: Trend) -> str:
    """A trend as SVG, with what it shows as its title and description."""
    # A second that only a page pays.
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    # Its talk of listing the machine's fonts, once, is nothing to a night.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for number, line in enumerate(trend.lines):
            if line.bands:
                _shaded(axes, line, number)
            _plotted(axes, line, number)
        _scaled(axes, trend)
        _dated(axes, trend.nights)
        figure.legend(loc="outside upper left", ncols=2, handlelength=3.2)
        content = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(content, format="svg", transparent=True, metadata=nothing)
    return _named(content.getvalue(), trend)


def _plotted(axes: Any, line: Line, number: int) -> None:  # noqa: ANN401 - matplotlib's
    missing = float("nan")
    axes.plot(
        range(len(line.values)),
        [missing if value is None else value for value in line.values],
        label=line.name,
        color=LINES[number % len(LINES)],
        marker=MARKERS[number % len(MARKERS)],
        linestyle=DASHES[number % len(DASHES)],
        markersize=4,
        linewidth=1.6,
    )


def _shaded(axes: Any, line: Line, number: int) -> None:  # noqa: ANN401 - matplotlib's
    """A line's band around 1, as wide as it was in each night; a night without one has none."""
    places, widths = [], []
    for night, width in enumerate(line.bands):
        places += [night - 0.5, night + 0.5]
        widths += [math.nan if width is None else width] * 2
    edges = [[1 - width for width in widths], [1 + width for width in widths]]
    color, dashes = LINES[number % len(LINES)], DASHES[number % len(DASHES)]
    axes.fill_between(places, *edges, color=color, alpha=SHADE, linewidth=0)
    for edge in edges:
        axes.plot(places, edge, color=color, alpha=EDGE, linestyle=dashes, linewidth=0.8)


def _scaled(axes: Any, trend: Trend) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.ticker import MaxNLocator, PercentFormatter  # noqa: PLC0415 - as above

    highest = max(values_of(trend.lines), default=0)
    if trend.unit == "ratio":
        axes.set_ylim(*around_one(trend))
    else:
        axes.set_ylim(0, max(1.15 * highest, 0.01 if trend.unit == "share" else 1.15))
    axes.tick_params(length=0)
    if trend.unit == "share":
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    if trend.unit == "ratio":
        axes.axhline(1, color=INK, linewidth=0.8)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=trend.unit == "count"))


def around_one(trend: Trend) -> tuple[float, float]:
    """From where to where ratios are drawn, so that bands of some percent are seen."""
    widths = [width for line in trend.lines for width in line.bands if width is not None]
    ratios = values_of(trend.lines)
    edge = 2 * max(widths, default=0.05)
    low, high = min([1 - edge, *ratios]), max([1 + edge, *ratios])
    room = 0.08 * (high - low)
    return max(0, low - room), high + room


def _dated(axes: Any, nights: Sequence[str]) -> None:  # noqa: ANN401 - matplotlib's
    """Every night at its place, some by their dates."""
    every = -(-len(nights) // MOST_LABELS)
    places = range(len(nights) - 1, -1, -every)
    axes.set_xticks(list(places), [f"{nights[n][4:6]}-{nights[n][6:8]}" for n in places])
    axes.set_xlim(-0.3, max(len(nights) - 0.7, 1))


def _named(svg: str, trend: Trend) -> str:
    """Give it a title, a description, and colours for light and dark."""
    svg = svg[svg.index("<svg") :].replace(f"'{FONT}'", "system-ui, 'Segoe UI', sans-serif")
    for color, name in NAMES.items():
        svg = svg.replace(color, f"var(--{name})")
    opening, _, rest = svg.partition(">")
    values = "; ".join(f"{line.name}: {_spoken(trend, line)}" for line in trend.lines)
    words = (
        f'<title id="title">{escape(trend.title)}</title>\n'
        f'<desc id="desc">{escape(f"{trend.about} {values}.")}</desc>\n'
    )
    style = (
        f"<style>:root {{ {_variables(LIGHT)} }}"
        f" @media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}</style>\n"
    )
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    return f'{head}{opening} role="img" aria-labelledby="title desc">\n{words}{style}{rest}'


def _spoken(trend: Trend, line: Line) -> str:
    known = [(name, v) for name, v in zip(trend.nights, line.values, strict=True) if v is not None]
    (first, before), (last, now) = known[0], known[-1]
    told = f"{trend.told(before)} in night {first}, {trend.told(now)} in night {last}"
    widths = [width for width in line.bands if width is not None]
    return f"{told}, own drift {percent(widths[-1])}" if widths else told


def _variables(colors: Sequence[str]) -> str:
    named = zip(NAMES.values(), colors, strict=True)
    return " ".join(f"--{name}: {color};" for name, color in named)
