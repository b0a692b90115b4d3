"""What scripts of checks share: where tensors live, and how results are told.

Under ``TRITON_INTERPRET=1`` kernels run on the CPU; else they are compiled for the GPU that is here.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = torch.device("cpu" if INTERPRETED else "cuda")


class Skipped(Exception):  # noqa: N818 - no error
    """A check cannot be made here; the text says why."""


def bits(tensor: torch.Tensor) -> bytes:
    """Whatever a tensor holds, NaNs too, to be compared."""
    held: bytes = tensor.cpu().contiguous().view(torch.uint8).numpy().tobytes()
    return held


def tell(checks: Sequence[Callable[[], None]]) -> None:
    """Run checks; write a JSON object to the first argument: by name, null or why it failed.

    One that could not be made has ``skipped: `` and the reason.
    """
    Path(sys.argv[1]).write_text(json.dumps({each.__name__: failure(each) for each in checks}))


def failure(check: Callable[[], None]) -> str | None:
    """Run a check; why it failed or was skipped, or None."""
    try:
        check()
    except Skipped as why:
        return f"skipped: {why}"
    except Exception:  # noqa: BLE001 - told to whoever asked
        return traceback.format_exc()
    return None
