"""Rows and sizes as a command line has them."""

from expert_bank.hot import hot_rows
from expert_bank.refused import Refused
from expert_bank.sizes import parse_size
from lanewright.errors import LanewrightError
from lanewright.residency.trace_file.recorded import Recorded


def asked_size(text: str | None, option: str) -> int:
    """Read a size in bytes.

    Raises:
        LanewrightError: It is none; the option is named.
    """
    found = parse_size(text or "")
    if not found:
        raise LanewrightError(
            f"{option} {text!r} is no size", hint="write one with its unit, as in 17.92MiB"
        )
    return found


def asked_rows(hot: str | None, found: Recorded, row: int) -> tuple[int, ...]:
    """Read how many experts of each layer are hot, as ``moe_hot_experts`` has them.

    Args:
        hot: The text of ``--hot``.
        found: The trace that they are of.
        row: Bytes of one expert.

    Raises:
        LanewrightError: It does not go with the trace.
    """
    layers = len(found.layers)
    try:
        return hot_rows(hot or "", experts=[found.experts] * layers, row_bytes=[row] * layers)
    except Refused as error:
        raise LanewrightError(f"--hot: {error.message}", hint=error.hint) from error
