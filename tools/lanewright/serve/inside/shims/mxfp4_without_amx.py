"""MXFP4 experts on a CPU without AMX.

vLLM runs its packed experts only where the CPU has AMX; the op itself falls back to AVX512. Its
builds for other CPUs have no such op, and torch stands in there.
"""

from shims import HardwareMissingError

# One packs what the other reads: all are vLLM's, or none is.
OPS = ("convert_weight_packed", "convert_scale_packed", "fused_experts_cpu")


def after_vllm() -> None:
    """Take the gate away, and stand in for the ops where this build has none.

    Raises:
        RuntimeError: There is no such gate any more.
        HardwareMissingError: This build has some of the ops, and not the others.
    """
    import torch  # noqa: PLC0415 - imported with vLLM
    from vllm.model_executor.layers.fused_moe.experts.cpu_moe import (  # noqa: PLC0415 - as above
        CPUExpertsMxfp4,
    )

    if torch.cpu._is_amx_tile_supported():  # noqa: SLF001 - what vLLM asks
        return
    missing = [op for op in OPS if not hasattr(torch.ops._C, op)]  # noqa: SLF001 - vLLM's ops
    if missing and len(missing) < len(OPS):
        raise HardwareMissingError(
            f"vLLM's build for this CPU has MXFP4 experts without {', '.join(missing)}"
        )
    if CPUExpertsMxfp4._supports_current_device():  # noqa: SLF001 - the gate itself
        raise RuntimeError("CPUExpertsMxfp4 does without AMX by itself: drop this shim")
    CPUExpertsMxfp4._supports_current_device = staticmethod(lambda: True)  # noqa: SLF001
    if missing:
        from shims import _mxfp4_in_torch  # noqa: PLC0415 - imports torch

        _mxfp4_in_torch.register()
        print(f"shim mxfp4-without-amx: torch stands in for {', '.join(missing)}", flush=True)
