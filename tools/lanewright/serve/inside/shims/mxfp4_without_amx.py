"""MXFP4 experts on an x86 CPU without AMX.

vLLM runs its packed experts only where the CPU has AMX; the op itself falls back to AVX512.
"""


def after_vllm() -> None:
    """Take the gate away.

    Raises:
        RuntimeError: There is no such gate any more, or this CPU has no AVX512 either.
    """
    import torch  # noqa: PLC0415 - imported with vLLM
    from vllm.model_executor.layers.fused_moe.experts.cpu_moe import (  # noqa: PLC0415 - as above
        CPUExpertsMxfp4,
    )

    if torch.cpu._is_amx_tile_supported():  # noqa: SLF001 - what vLLM asks
        return
    if not torch.cpu._is_avx512_supported():  # noqa: SLF001 - the same module
        raise RuntimeError("this CPU has neither AMX nor AVX512, and the op needs one of them")
    if CPUExpertsMxfp4._supports_current_device():  # noqa: SLF001 - the gate itself
        raise RuntimeError("CPUExpertsMxfp4 does without AMX by itself: drop this shim")
    CPUExpertsMxfp4._supports_current_device = staticmethod(lambda: True)  # noqa: SLF001
