"""Measurements, fit and predictions, for people."""

from collections.abc import Iterator

from lanewright.residency.cost.fit import Fit
from lanewright.residency.cost.members import Member
from lanewright.residency.cost.times import time


def fit_lines(found: Fit) -> Iterator[str]:
    """Tell what was fitted on what, what it predicts, and what stays unexplained."""
    low, high = found.range
    yield f"measured: a better map, with {found.removed:.0%} fewer cold picks, saved of a step"
    for users, each in found.measured.items():
        yield (
            f"  {_users(users):>8}: {time(each.seconds):>8} ({each.before:g} -> {each.after:g} tokens/s,"
            f" {time(each.before_step)} -> {time(each.after_step)})"
        )
    yield (
        f"  one token's picks would have saved {time(found.one_token)}; but a step accepts {found.accepted:.2f}"
        " tokens of a user and computes those that it rejects, too"
    )
    yield (
        f"T, tokens of a user that a step computes, was not measured: searched from {low:.2f} (accepted) to"
        f" {high:g} ({found.source})"
    )
    yield "one user has one equation for T, overlap and skew; eight and more are predicted from it"
    yield _head(found)
    yield _row("T = accepted, nothing fitted", found.at_accepted)
    yield _row("the fit: T solved for", found.fitted)
    if found.asked is not None:
        yield _row("as asked for", found.asked)
    for member in found.family:
        yield _row(f"  of its family, {member.solved} solved for", member)
    yield _row("  best of it, chosen afterwards", found.best)
    if found.usage_skew is not None:
        yield (
            f"whole layers cold before, picks skewed as the cold experts' share says (Zipf {found.usage_skew:.2f},"
            " of all experts of a layer)"
        )
        yield _row("T at its end, nothing fitted", found.layers_at_most)
        yield _row("T solved for", found.layers_fitted)
    yield from _unexplained(found)


def _head(found: Fit) -> str:
    users = "".join(f"{_users(each):>17}" for each in found.measured)
    return f"  {'':<40}{'T':>7}{'overlap':>9}{'skew':>6}{users}"


def _row(name: str, member: Member | None) -> str:
    if member is None:
        return f"  {name:<40}none gives what one user saved"
    reading = member.reading
    told = "".join(
        f"{f'{time(each)} {_off(member.error[users])}':>17}" for users, each in member.saved.items()
    )
    outside = "" if member.in_range else "  T outside of the range"
    return (
        f"  {name:<40}{reading.tokens:7.2f}{reading.overlap:9.0%}{reading.skew:6.2f}{told}{outside}"
    )


def _unexplained(found: Fit) -> Iterator[str]:
    yield "unexplained"
    if found.fitted and found.fitted.more_than_step:
        users = " and ".join(str(each) for each in found.fitted.more_than_step)
        yield (
            f"  by the fit, cold reads with {users} users took longer than their whole step: picks are not"
            " uniform and independent, or not all of the time shows"
        )
    if found.best is not None:
        worst = max(abs(error) for users, error in found.best.error.items() if users != 1)
        yield (
            f"  no T, overlap and skew in the range come nearer than {worst:.0%} with every number of users"
        )
    yield "  T, overlap and skew: none was measured, and many choices fit one user as well"
    if found.usage_skew is not None:
        yield (
            "  what was cold before was whole layers in load order, and not some experts of each: taken as"
            " that, with the picks' skew that the usage map's share implies, errors are smaller, but T is at"
            " its range's end or beyond; that skew is one of Zipf by one number, and no measured routing"
        )
    yield "  that neighbouring tokens pick alike, and that kernels read a row again for each 8 tokens of it"


def _users(users: int) -> str:
    return "1 user" if users == 1 else f"{users} users"


def _off(error: float) -> str:
    """An error in percent, without the sign of one that is none."""
    return f"{error:+.0%}" if round(error, 2) else "0%"
