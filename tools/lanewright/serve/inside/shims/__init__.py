"""What a test machine lacks for a lane, stood in for before anything of the lane runs.

Each module here is one shim; its name with dashes is what a series calls it. ``before_vllm`` is
called while nothing of vLLM or Triton is imported, ``after_vllm`` once vLLM is. Run by the lane's
Python, in every process that runs a lane.
"""

import importlib
import os

VARIABLE = "LANEWRIGHT_SHIMS"


class ShimError(RuntimeError):
    """A shim found nothing that it could change, or not the machine that it is for."""


class HardwareMissingError(RuntimeError):
    """The machine lacks what a shim cannot stand in for."""


def apply() -> None:
    """Apply the shims that the environment names, in order; imports vLLM where there are any.

    Raises:
        ShimError: A shim cannot do what it is for.
    """
    names = [name for name in os.environ.get(VARIABLE, "").split(",") if name]
    modules = [importlib.import_module(f"shims.{name.replace('-', '_')}") for name in names]
    for step in ("before_vllm", "after_vllm"):
        for name, module in zip(names, modules, strict=True):
            if change := getattr(module, step, None):
                try:
                    change()
                except HardwareMissingError as error:
                    # This line is read: such a lane is not run, which is no failure of its own.
                    print(f"shim {name}: not here: {error}", flush=True)
                    raise ShimError(f"shim {name}: {error}") from error
                except Exception as error:
                    raise ShimError(f"shim {name}: {error}") from error
                print(f"shim {name}: {step.replace('_', ' ')}", flush=True)
