"""A plot as a PNG or an SVG: the same bytes for the same numbers."""

import io
import logging
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from lanewright.errors import LanewrightError
from lanewright.residency.cost.plots import DPI, SETTINGS
from lanewright.store.atomic import replace_file

KINDS = ("png", "svg")


def write_picture(file: Path, size: tuple[float, float], draw: Callable[[Figure], None]) -> None:
    """Draw and write.

    Args:
        file: A ``.png`` or ``.svg``; an old one is replaced in one step.
        size: In inches.
        draw: Fills the figure.

    Raises:
        LanewrightError: Its name ends otherwise, or it cannot be written.
    """
    require_kind(file)
    # Its talk of listing the machine's fonts, once, is nothing to a user.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    content = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        if file.suffix == ".svg":
            FigureCanvasSVG(figure)
            figure.savefig(content, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
        else:
            FigureCanvasAgg(figure)
            figure.savefig(content, format="png", dpi=DPI, metadata={"Software": None})
    try:
        replace_file(file, content.getvalue())
    except OSError as error:
        raise LanewrightError(
            f"cannot write {file}: {error.strerror}", hint="give --plot a file in a folder"
        ) from error


def require_kind(file: Path) -> None:
    """Refuse a name that says no kind of plot, before anything is computed.

    Raises:
        LanewrightError: The same.
    """
    if file.suffix[1:] not in KINDS:
        raise LanewrightError(f"--plot {file}: a plot is a .png or a .svg", hint="name it so")
