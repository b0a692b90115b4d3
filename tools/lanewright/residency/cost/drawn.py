"""What is drawn of an estimate: each draws into axes, and tells whether there was anything."""

from typing import Any

from lanewright.residency.cost.estimate import Estimate
from lanewright.residency.cost.times import time, times

# Told apart without their hues, too: each is darker or lighter than the others.
DARK, MIDDLE, LIGHT, GREY = "#0b5cad", "#d9772b", "#9cc4ea", "#8a8f94"
MILLION = 1e6


def rows(axes: Any, found: Estimate) -> bool:  # noqa: ANN401 - matplotlib's
    """One expert from each place, on a scale that has all of them."""
    tiers = found.tiers
    places = [("host memory,\nover the link", tiers.link_row, time(tiers.link_row), DARK)]
    if tiers.hbm_row is not None:
        places.insert(0, ("device memory", tiers.hbm_row, time(tiers.hbm_row), LIGHT))
    if tiers.nvme_row is not None:
        places.append(("disk", tiers.nvme_row[1], times(tiers.nvme_row), MIDDLE))
    for n, (_, seconds, told, color) in enumerate(places):
        axes.barh(n, seconds * 1e3, color=color)
        axes.text(seconds * 1e3, n, f"  {told}", va="center")
    axes.set_yticks(range(len(places)), [name for name, *_ in places])
    axes.invert_yaxis()
    axes.set_xscale("log")
    slowest = max(seconds for _, seconds, *_ in places) * 1e3
    if (step := found.machine.steps.get(1)) is not None:
        axes.axvline(step, color=GREY, linestyle="--")
        axes.text(
            step, -0.6, f"a step, one user: {step:g} ms ", ha="right", va="bottom", color=GREY
        )
    axes.set_xlim(right=max(slowest * 12, 1.5 * (step or 0)))
    axes.set_xlabel("ms, each mark ten times the one before")
    axes.set_title(f"One expert of {found.model.row / 2**20:.2f} MiB\n")
    return True


def cold_reads(axes: Any, found: Estimate) -> bool:  # noqa: ANN401 - matplotlib's
    """Cold reads by share: of one token, and of a step of one user."""
    names = list(found.token)
    height = 0.38
    for n, name in enumerate(names):
        each = found.token[name]
        share = "" if each.of_step is None else f" ({each.of_step:.1%} of a step)"
        axes.barh(
            n - height / 2, each.seconds * 1e3, height, color=DARK, label=_once(n, "one token")
        )
        axes.text(each.seconds * 1e3, n - height / 2, f"  {time(each.seconds)}{share}", va="center")
        one = found.steps[name].get(1)
        if one is None:
            continue
        reading = found.reading
        hidden = f", {reading.overlap:.0%} hidden" if reading.overlap else ""
        label = _once(n, f"a step of one user, {reading.tokens:.2f} tokens{hidden}")
        axes.barh(n + height / 2, one.seconds * 1e3, height, color=LIGHT, label=label)
        axes.text(one.seconds * 1e3, n + height / 2, f"  {time(one.seconds)}", va="center")
    axes.set_yticks(
        range(len(names)), [f"{name}\n{found.token[name].cold_share:.1%} cold" for name in names]
    )
    axes.invert_yaxis()
    axes.set_xlim(right=axes.get_xlim()[1] * 1.3)
    axes.set_xlabel("ms over the link")
    axes.set_title("Cold reads\n")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return bool(names)


def kv_cache(axes: Any, found: Estimate) -> bool:  # noqa: ANN401 - matplotlib's
    """What slots take of the KV cache."""
    slots = found.slots
    if slots.pool_tokens is None or slots.kv_tokens is None or slots.of_pool is None:
        return False
    left, taken = max(0.0, slots.pool_tokens - slots.kv_tokens), slots.kv_tokens
    parts = (
        ("left", left, LIGHT),
        (f"{slots.of_layer} slots a layer, {slots.bytes / 2**30:.2f} GiB", taken, MIDDLE),
    )
    start = 0.0
    for name, tokens, color in parts:
        axes.barh(0, tokens / MILLION, left=start / MILLION, color=color, label=name)
        if tokens > 0:
            told = f"{tokens / MILLION:.2f} M\n{tokens / slots.pool_tokens:.0%}"
            axes.text((start + tokens / 2) / MILLION, 0, told, ha="center", va="center")
        start += tokens
    axes.set_yticks([])
    axes.set_ylim(-0.9, 0.9)
    axes.axvline(slots.pool_tokens / MILLION, color=GREY, linestyle="--")
    axes.set_xlabel(f"million tokens of KV cache; there are {slots.pool_tokens / MILLION:.2f} M")
    axes.set_title("What slots for copies take of the KV cache")
    axes.legend(loc="upper left", ncols=2)
    return True


def fitted(axes: Any, found: Estimate) -> bool:  # noqa: ANN401 - matplotlib's
    """What a better map saved of a step: measured, and as readings have it."""
    held = found.fit
    if held is None:
        return False
    groups = {"measured": ({n: each.seconds for n, each in held.measured.items()}, GREY)}
    for name, member, color in (
        ("fitted on 1 user", held.fitted, DARK),
        ("best of its family, chosen afterwards", held.best, LIGHT),
        ("whole layers cold before", held.layers_at_most, MIDDLE),
    ):
        if member is not None:
            reading = member.reading
            told = f"T {reading.tokens:.2f}, overlap {reading.overlap:.0%}, skew {reading.skew:.2f}"
            groups[f"{name}: {told}"] = (member.saved, color)
    width = 0.8 / len(groups)
    for n, (name, (saved, color)) in enumerate(groups.items()):
        places = [group + (n - (len(groups) - 1) / 2) * width for group in range(len(saved))]
        axes.bar(places, [each * 1e3 for each in saved.values()], width, color=color, label=name)
        for place, each in zip(places, saved.values(), strict=True):
            axes.text(
                place, each * 1e3, f"{each * 1e3:.1f}", ha="center", va="bottom", fontsize=7.5
            )
    axes.set_xticks(
        range(len(held.measured)),
        ["1 user" if n == 1 else f"{n} users: predicted" for n in held.measured],
    )
    axes.set_ylabel("ms of a step saved")
    axes.set_title("What a better map saved of a step")
    axes.legend(loc="upper left", fontsize=8)
    return True


def _once(n: int, label: str) -> str:
    """A label that a legend has once."""
    return label if n == 0 else "_"
