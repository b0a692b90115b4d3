"""A scoreboard as a plot: recall over lead time, beside what a row's copy takes."""

from pathlib import Path
from typing import Any

from lanewright.residency.picture import write_picture

# Beyond the longest lead, for what has all the time there is.
FARTHER = 6.0
BETWEEN_LABELS = 0.05


def write_plot(told: dict[str, Any], file: Path) -> None:
    """Draw a scoreboard.

    Args:
        told: As ``told.facts`` gives it.
        file: A ``.png`` or ``.svg``; an old one is replaced in one step.

    Raises:
        LanewrightError: Its name ends otherwise, or it cannot be written.
    """
    write_picture(file, (9, 4.8), lambda figure: _draw(figure.add_subplot(), told))


def _draw(axes: Any, told: dict[str, Any]) -> None:  # noqa: ANN401 - matplotlib's keywords are untyped
    shown = [
        each for each in told["guessers"] if not each["missing"] and each["guesser"] != "control"
    ]
    copies = [each["row_seconds"] * 1e3 for each in told["links"]]
    longest, shortest = max(told["step_seconds"] * 1e3, *copies), min(copies)
    labels: dict[float, list[tuple[float, str]]] = {}
    for each in shown:
        lead = each["lead_seconds"]
        # A logarithm has no place for none.
        x = longest * FARTHER if lead is None else max(lead * 1e3, shortest / FARTHER)
        first, second = each["wide"][0], each["wide"][1]
        axes.errorbar(
            x, first["recall"], yerr=first["recall_error"] or 0.0, fmt="o", color="C0", markersize=5
        )
        axes.plot(x, second["recall"], "o", color="C0", markersize=5, fillstyle="none")
        axes.plot([x, x], [first["recall"], second["recall"]], color="C0", linewidth=0.6)
        labels.setdefault(x, []).append((first["recall"], each["guesser"]))
    for x, several in labels.items():
        _label(axes, x, sorted(several))
    for number, link in enumerate(told["links"]):
        copy = link["row_seconds"] * 1e3
        axes.axvline(copy, color=f"C{number + 1}", linestyle="--", linewidth=1)
        axes.annotate(
            f"a row at {link['rate']:g} GB/s",
            (copy, 1.0),
            xytext=(3, -2),
            textcoords="offset points",
            rotation=90,
            va="top",
            color=f"C{number + 1}",
        )
    axes.axhline(told["guessers"][0]["wide"][0]["chance"], color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(right=longest * FARTHER * 12)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(
        f"lead before the layer, ms; at the right: known before the start, or held already ({longest * FARTHER:g})"
    )
    axes.set_ylabel(f"recall of {told['picks_per_token']} names (open: of twice as many)")
    axes.set_title(
        f"guesses at {told['tokens']} tokens of {told['phase']}: right of a dashed line one row is there in time"
    )


def _label(axes: Any, x: float, several: list[tuple[float, str]]) -> None:  # noqa: ANN401 - see above
    """Write names beside their points, from the lowest on, none upon another."""
    free = 0.0
    for recall, name in several:
        y = max(recall, free)
        free = y + BETWEEN_LABELS
        axes.annotate(
            f"{name} {recall:.0%}",
            (x, recall),
            xytext=(x * 1.25, y),
            va="center",
            fontsize=8,
            arrowprops={"arrowstyle": "-", "color": "grey", "linewidth": 0.5},
        )
