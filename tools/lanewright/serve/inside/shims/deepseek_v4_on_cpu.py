"""DeepSeek-V4 on a CPU: what vLLM's own port of it trips over.

Its sliding-window metadata names a schedule for each kind of layer that vLLM had when the port was
made, and the shared code asks for kinds that came later, too.
"""

import os


def before_vllm() -> None:
    """Keep Dynamo away from kernels that are interpreted."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"


def after_vllm() -> None:
    """Give every kind of layer its schedule, which is none on a CPU.

    Raises:
        RuntimeError: The port names all of them.
    """
    from vllm.models.deepseek_v4.cpu.cpu_mla import (  # noqa: PLC0415 - vLLM is imported
        DeepseekV4CPUSparseSWAMetadataBuilder,
    )
    from vllm.v1.attention.backends.mla import sparse_swa  # noqa: PLC0415 - the same

    kinds = [kind for name, kind in vars(sparse_swa).items() if name.startswith("_LAYER_TYPE_")]
    builder = DeepseekV4CPUSparseSWAMetadataBuilder
    if set(kinds) <= set(builder.build_tile_scheduler(None, 0)):
        raise RuntimeError("its metadata names every kind of layer: drop this shim")
    builder.build_tile_scheduler = lambda _, __: dict.fromkeys(kinds)
