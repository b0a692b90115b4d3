"""The errors a user can meet, each with its exit code and the command to type next."""

from enum import IntEnum

# Said behind an error that is the network's, in a line of its own: a night reads it there.
UNREACHED = "  no answer over the network"


class ExitCode(IntEnum):
    """What a run of ``lanewright`` ends with; documented in the README."""

    CLEAN = 0
    INPUT = 1
    USAGE = 2
    CONFLICT = 3
    DRIFT = 4
    MISMATCH = 5
    HARDWARE = 6
    BUG = 70
    INTERRUPTED = 130


class LanewrightError(Exception):
    """Input or environment is at fault, not this program.

    Args:
        message: What is wrong, naming file, entry and hunk where there is one.
        hint: The next command to type, or what to mend, when that is known.
    """

    exit_code = ExitCode.INPUT

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class DamagedError(LanewrightError):
    """What is stored by its digest is missing, or another; it can be had again."""


class UnreachedError(LanewrightError):
    """Who is asked over the network is not reached from here; what was asked may be sound."""


class ConflictError(LanewrightError):
    """Entries need a person."""

    exit_code = ExitCode.CONFLICT


class DriftError(LanewrightError):
    """``--check`` found that something would change."""

    exit_code = ExitCode.DRIFT


class MismatchError(LanewrightError):
    """A verification or equality check failed."""

    exit_code = ExitCode.MISMATCH


class HardwareError(LanewrightError):
    """The hardware that a lane needs is not here."""

    exit_code = ExitCode.HARDWARE
