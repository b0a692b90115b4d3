"""Triton's kernels on a machine without a GPU, by Triton's own interpreter.

A CPU build of vLLM goes without Triton unless Triton has a backend named ``cpu``, and Triton has
none. The interpreter needs no backend; one that is only named makes vLLM use it.
"""

import os
import sys


def before_vllm() -> None:
    """Name a backend ``cpu``, and have every kernel interpreted.

    Raises:
        RuntimeError: Triton or vLLM is imported already, or Triton has such a backend.
    """
    if "vllm" in sys.modules:
        raise RuntimeError("vllm is imported already, and has decided about Triton")
    if "triton" in sys.modules:
        raise RuntimeError("triton is imported already, and compiles")
    os.environ["TRITON_INTERPRET"] = "1"
    from triton.backends import Backend, backends  # noqa: PLC0415 - reads the variable above
    from triton.backends.compiler import BaseBackend  # noqa: PLC0415 - the same
    from triton.backends.driver import DriverBase  # noqa: PLC0415 - the same

    class Named(DriverBase):
        """Drives nothing."""

        @classmethod
        def is_active(cls) -> bool:
            """Never chosen by Triton: only its name is read."""
            return False

    if "cpu" in backends:
        raise RuntimeError("triton has a backend named cpu: drop this shim")
    backends["cpu"] = Backend(compiler=BaseBackend, driver=Named)


def after_vllm() -> None:
    """Check that vLLM took it.

    Raises:
        RuntimeError: It goes without Triton all the same.
    """
    from vllm.triton_utils import HAS_TRITON  # noqa: PLC0415 - imported with vLLM

    if not HAS_TRITON:
        raise RuntimeError("vLLM goes without Triton although a backend is named cpu")
