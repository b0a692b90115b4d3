"""A picture of a comparison: what was cold, what was waited for, and how it goes on in a request."""

from pathlib import Path
from typing import Any

from lanewright.residency.picture import write_picture

COLOURS = 10
SHADES = ("#2171b5", "#6baed6", "#c6dbef", "#deebf7")


def write_plot(told: dict[str, Any], file: Path) -> None:
    """Draw a comparison.

    Args:
        told: As ``told.facts`` gives it.
        file: A ``.png`` or ``.svg``; an old one is replaced in one step.

    Raises:
        LanewrightError: Its name ends otherwise, or it cannot be written.
    """
    height = 0.32 * len(_names(told)) + 2.4
    write_picture(file, (15, height), lambda figure: _draw(figure, told))


def _draw(figure: Any, told: dict[str, Any]) -> None:  # noqa: ANN401 - matplotlib's keywords are untyped
    cold, waited, by_token = figure.subplots(1, 3)
    _cold(cold, told)
    _waited(waited, told)
    _by_token(by_token, told)
    figure.suptitle(
        f"{told['tokens']} tokens of {told['requests']} requests, {told['layers']} layers of"
        f" {told['experts']} experts, {sum(told['rows'])} rows"
    )


def _names(told: dict[str, Any]) -> list[str]:
    """Each policy once; one whose outcome is another on each link has several."""
    return [*dict.fromkeys(each["policy"] for each in told["policies"])]


def _cold(axes: Any, told: dict[str, Any]) -> None:  # noqa: ANN401 - the same
    names = _names(told)
    first = {each["policy"]: each["cold_share"] for each in told["policies"][::-1]}
    axes.barh(range(len(names)), [first[name] for name in names], color=SHADES[0])
    axes.axvline(told["null"]["cold_share"], color="#888", linestyle="--")
    axes.annotate(
        "a map that knows nothing", (told["null"]["cold_share"], -0.7), color="#666", ha="right"
    )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("share of picks that were cold")


def _waited(axes: Any, told: dict[str, Any]) -> None:  # noqa: ANN401 - the same
    names, links = _names(told), told["links"]
    for place, link in enumerate(links):
        waited = {
            each["policy"]: each["stall_seconds"][f"{link:g}"] / max(1, told["forwards"]) * 1e3
            for each in told["policies"]
            if f"{link:g}" in each["stall_seconds"]
        }
        axes.barh(
            [row + 0.8 * (place + 0.5) / len(links) - 0.4 for row in range(len(names))],
            [waited.get(name, 0) for name in names],
            0.8 / len(links),
            color=SHADES[place % len(SHADES)],
            label=f"{link:g} GB/s",
        )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("ms that a forward waited")
    axes.legend(frameon=False)


def _by_token(axes: Any, told: dict[str, Any]) -> None:  # noqa: ANN401 - the same
    # One policy a name: what differs by link alone is hardly another line.
    first = {each["policy"]: each["by_token"] for each in told["policies"][::-1]}
    for number, name in enumerate(_names(told)):
        shares = [bucket["cold_share"] for bucket in first[name]]
        style = "-" if number < COLOURS else "--"
        axes.plot(range(len(shares)), shares, style, color=f"C{number % COLOURS}", label=name)
    buckets = told["policies"][0]["by_token"] if told["policies"] else []
    axes.set_xticks(range(len(buckets)), [f"{each['first']}" for each in buckets])
    axes.set_xlabel("a token's place in its request, from")
    axes.set_ylabel("share of picks that were cold")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
