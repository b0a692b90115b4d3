"""What a night tries of every lane, in which order, and what a failure keeps from being tried."""

from collections.abc import Iterator, Mapping, Sequence

from lanewright.errors import ExitCode, LanewrightError
from lanewright.nightly.booted import Booted
from lanewright.nightly.night import Step, Verdict
from lanewright.project import Project
from lanewright.queue.series import Series, load_series

# Which steps of a lane must have passed before one is tried; the others are tried whatever was.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "drift": ("build",),
    "base": ("build",),
    "image": ("build",),
    "window": ("build",),
    "boot": ("build", "window"),
    "smoke": ("build", "image", "window", "boot"),
    "restore": ("window",),
}
# And of a lane that boots in its image alone.
IN_IMAGE: Mapping[str, tuple[str, ...]] = {"window": ("image",), "boot": ("image",)}
# And, in place of all that, of one whose device is not here, which no build would bring.
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "window": (),
    "boot": ("window",),
    "smoke": ("window",),
}
NONE = Booted()
# What is tried on a machine that a window had.
IN_WINDOW = frozenset({"boot", "bisect", "smoke"})
# What looks for the cause of an answer that differs.
LOOKS = frozenset({"reproduce", "bisect"})
OF_IMAGES = frozenset({"mirror", "base", "image", "smoke"})
# Without a network, a lane is built of what the store has; what it lacks then, `build` and `image` say.
IF_IT_CAN = frozenset({"fetch", "drift", "mirror"})


def planned(project: Project, lanes: Sequence[str]) -> list[Step]:
    """The steps of a night, lane by lane, so that what is proven of one is there early."""
    return [step for lane in lanes for step in _of_lane(project, lane)]


def _of_lane(project: Project, lane: str) -> Iterator[Step]:
    series = _series(project, lane)
    without = _without(series) if series else {}
    window = series.window if series else None
    budget = ["equal", lane, "--boots", str(window.boots)] if window else None
    other, why_not = _elsewhere(project, lane, series) if series else (None, "")
    commands = {
        "fetch": ["fetch", lane],
        "report": ["report", lane, "--json"],
        "build": ["build", lane],
        # Behind it, for a lock that lacks the lane's own edits differs without upstream.
        "drift": ["rebase", "--check", "--lane", lane],
        "status": ["status", lane, "--json"],
        "mirror": ["image", "mirror", "--optional", lane],
        "base": ["image", "base", "--optional", lane],
        "image": ["image", lane],
        "window": [],
        "boot": budget or ["boot", "--equal", lane],
        "bisect": ["bisect", lane, "--equal", "--json"],
        "smoke": ["image", "smoke", "--optional", lane],
        "restore": [],
    }
    if series and series.device != "cpu":
        # Behind it: who is served need not wait for what runs on the CPU.
        commands["reproduce"] = ["equal", other or lane]
        commands["bisect"] = commands.pop("bisect")
    if other:
        commands["bisect"] = ["bisect", other, "--equal", "--json"]
    elif why_not:
        without |= dict.fromkeys(("reproduce", "bisect"), why_not)
    for name, command in commands.items():
        if why := without.get(name):
            yield Step(name=name, command=command, lane=lane, verdict="left out", why=why)
        else:
            yield Step(name=name, command=command, lane=lane)


def _series(project: Project, lane: str) -> Series | None:
    try:
        return load_series(project, lane)
    except LanewrightError:
        # Each step tells it.
        return None


def _without(series: Series) -> dict[str, str]:
    """Steps that a lane has no use for, and why."""
    without: dict[str, str] = {}
    if series.window is None:
        without["restore"] = "its series has no [window]"
        if series.device == "cpu":
            without["window"] = without["restore"]
    else:
        without["smoke"] = "its [window] loads the model for the comparison alone"
    if series.image is None:
        without |= dict.fromkeys(OF_IMAGES, "its series has no [image]")
    return without


def _elsewhere(project: Project, lane: str, series: Series) -> tuple[str | None, str]:
    """In which CPU lane a mismatch of hardware is looked for; or why in none."""
    if series.device == "cpu":
        return None, ""
    budget = "a night boots hardware no oftener than it must"
    other = series.equality.bisect_on
    if other is None:
        return None, f"{budget}: bisect on a CPU lane, which [equality] bisect_on names"
    found = _series(project, other)
    if other == lane or found is None:
        return None, f"{budget}, and [equality] bisect_on names no other lane: {other}"
    if found.device != "cpu":
        return None, f"{budget}, and {other}, which [equality] bisect_on names, is no CPU lane"
    return other, ""


def reopened(steps: Sequence[Step], booted: Booted = NONE) -> list[Step]:
    """The steps of a night that goes on: a window that was open then, and is needed, is none now."""
    left = {
        step.lane
        for step in steps
        if step.name in IN_WINDOW
        and step.lane in step.command
        and step.verdict == "pending"
        and not keeping(step, steps, booted)
    }
    return [
        Step(name=step.name, command=step.command, lane=step.lane)
        if step.name == "window" and step.verdict == "passed" and step.lane in left
        else step
        for step in steps
    ]


def keeping(step: Step, steps: Sequence[Step], booted: Booted = NONE) -> Step | None:
    """The step of the same lane whose end keeps this one from being tried, if one does."""
    needed = _needed(step, booted)
    if step.name in LOOKS:
        mine = {each.name for each in steps if each.lane == step.lane}
        behind = "reproduce" if step.name == "bisect" and "reproduce" in mine else "boot"
        return next((each for each in steps if _is_no_mismatch(each, step, behind)), None)
    for other in steps:
        # A lane that has no use for a window needs none.
        useless = other.name == "window" and other.exit_code is None and other.verdict == "left out"
        ours = other.lane == step.lane and other.name in needed
        if ours and other.verdict != "passed" and not useless:
            return other
    return None


def _needed(step: Step, booted: Booted) -> tuple[str, ...]:
    needed = NEEDS.get(step.name, ())
    if step.lane in booted.elsewhere:
        return ELSEWHERE.get(step.name, needed)
    return needed + (IN_IMAGE.get(step.name, ()) if step.lane in booted.in_image else ())


def _is_no_mismatch(boot: Step, look: Step, behind: str) -> bool:
    """Whether a boot leaves nothing to look for: no answer differs, and no proof failed."""
    ours = boot.lane == look.lane and boot.name == behind
    return ours and boot.exit_code != ExitCode.MISMATCH


def verdict_of(name: str, code: int, *, unreached: bool = False) -> Verdict:
    """What a step came to by what it ended with.

    Args:
        name: Of the step.
        code: Its exit code.
        unreached: Whether it said that nobody answers over the network.
    """
    if code == ExitCode.CLEAN:
        return "passed"
    if name == "drift" and code == ExitCode.DRIFT:
        return "drift"
    if code == ExitCode.CONFLICT:
        return "conflicts"
    if code == ExitCode.HARDWARE:
        return "not run"
    if name in IF_IT_CAN and code == ExitCode.INPUT and unreached:
        return "left out"
    return "failed"
