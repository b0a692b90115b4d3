"""Plots of an estimate, each as PNG and SVG: the same bytes for the same numbers."""

import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from lanewright.errors import LanewrightError
from lanewright.residency.cost.drawn import cold_reads, fitted, kv_cache, rows
from lanewright.residency.cost.estimate import Estimate
from lanewright.store.atomic import replace_file

DPI = 150
# Its keys are literals to matplotlib.
SETTINGS: Any = {
    "svg.hashsalt": "lanewright",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "legend.frameon": False,
}
PLOTS: dict[str, Callable[[Any, Estimate], bool]] = {
    "tiers": rows,
    "cold-reads": cold_reads,
    "slots": kv_cache,
    "anchors": fitted,
}


def write_plots(found: Estimate, folder: Path) -> list[Path]:
    """Draw what there is to draw, all of it before anything is written.

    Args:
        found: What is drawn.
        folder: Where to; made where it is not there.

    Returns:
        The files.

    Raises:
        LanewrightError: The folder cannot be written.
    """
    # Its talk of listing the machine's fonts, once, is nothing to a user.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    made = {
        folder / f"{name}.{kind}": content
        for name, draw in PLOTS.items()
        for kind, content in _drawn(draw, found).items()
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in made.items():
            replace_file(file, content)
    except OSError as error:
        raise LanewrightError(
            f"cannot write {error.filename or folder}: {error.strerror}",
            hint="give --plots a folder that can be written",
        ) from error
    return list(made)


def _drawn(draw: Callable[[Any, Estimate], bool], found: Estimate) -> dict[str, bytes]:
    """A plot by its kind; none where there is nothing to draw."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        if not draw(figure.add_subplot(), found):
            return {}
        svg, png = io.BytesIO(), io.BytesIO()
        FigureCanvasSVG(figure)
        figure.savefig(svg, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
        FigureCanvasAgg(figure)
        figure.savefig(png, format="png", dpi=DPI, metadata={"Software": None})
    return {"svg": svg.getvalue(), "png": png.getvalue()}
