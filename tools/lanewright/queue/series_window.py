"""``[window]`` of a series: how the machine that serves is had for a while, and given back."""

from typing import Annotated

import msgspec

from expert_bank.sizes import parse_size
from lanewright.errors import LanewrightError
from lanewright.shell_line import require_line

Seconds = Annotated[int, msgspec.Meta(ge=1, le=86_400)]
Boots = Annotated[int, msgspec.Meta(ge=2, le=1000)]


class WindowSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """``[window]``: what a night does before it boots a lane, and behind it.

    Attributes:
        lock: File or folder that whoever uses the machine locks (flock), or empty.
        drain: Line for sh: takes no new requests, and ends once those under way are answered.
        stop: Line for sh: stops what serves.
        restore: Line for sh: starts it again. Run on every way out, and more than once if need be.
        min_free: Size of memory that must be free once it has stopped: the device's on a GPU.
        boots: How often the model may be loaded: the unpatched pin's engine, and the lane's.
        seconds: How long drain, stop, or restore may take, each, and memory to come free.
    """

    lock: str = ""
    drain: str = ""
    stop: str = ""
    restore: str = ""
    min_free: str = ""
    boots: Boots = 2
    seconds: Seconds = 600

    @property
    def least(self) -> int:
        """Bytes that must be free."""
        return parse_size(self.min_free) or 0


def check_window(window: WindowSpec | None, place: str) -> None:
    """Check what types alone do not say.

    Raises:
        LanewrightError: Something is stopped that nothing starts again, or a value is none.
    """
    if window is None:
        return
    for key in ("lock", "drain", "stop", "restore"):
        require_line(getattr(window, key), f"{place}: [window] {key}")
    if (window.drain or window.stop) and not window.restore:
        raise LanewrightError(
            f"{place}: [window] drain and stop need `restore`, which starts again what they stop"
        )
    if window.min_free and not parse_size(window.min_free):
        raise LanewrightError(f"{place}: [window] min_free: {window.min_free!r} is no size")
    if window.lock and not window.lock.startswith("/"):
        raise LanewrightError(f"{place}: [window] lock: {window.lock!r} does not begin with /")
