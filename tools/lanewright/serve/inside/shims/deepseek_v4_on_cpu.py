"""DeepSeek-V4 on a CPU: what vLLM's own port of it trips over.

Its sliding-window metadata names a schedule for each kind of layer that vLLM had when the port was
made, and the shared code asks for kinds that came later, too. Its kernels are in vLLM's build for
AVX512 with bfloat16 alone; torch stands in for them elsewhere.
"""

import os

from shims import HardwareMissingError

# The port's own kernels.
OPS = (
    "biased_topk_cpu",
    "bmm_cpu",
    "compress_norm_rope_store_cpu",
    "compress_norm_rope_store_indexer_cpu",
    "flash_mla_with_kvcache_cpu",
    "fp8_paged_mqa_logits_cpu",
    "fused_indexer_q_rope_quant_cpu",
    "fused_qnorm_rope_kv_insert_cpu",
    "hash_topk_cpu",
    "hc_head_fused_cpu",
    "hc_post_fused_cpu",
    "hc_pre_fused_cpu",
    "inverse_gptj_rope_o_proj_cpu",
    "save_partial_states_cpu",
    "topk_transform_512_cpu",
)


def before_vllm() -> None:
    """Keep Dynamo away from kernels that are interpreted."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"


def after_vllm() -> None:
    """Give every kind of layer its schedule, which is none on a CPU; stand in for kernels.

    Raises:
        RuntimeError: The port names all of them.
        HardwareMissingError: vLLM's build for this CPU has some of the kernels, and not the others.
    """
    import torch  # noqa: PLC0415 - imported with vLLM
    from vllm.models.deepseek_v4.cpu.cpu_mla import (  # noqa: PLC0415 - vLLM is imported
        DeepseekV4CPUSparseSWAMetadataBuilder,
    )
    from vllm.v1.attention.backends.mla import sparse_swa  # noqa: PLC0415 - the same

    missing = [op for op in OPS if not hasattr(torch.ops._C, op)]  # noqa: SLF001 - vLLM's ops
    if missing and len(missing) < len(OPS):
        raise HardwareMissingError(
            f"vLLM's build for this CPU has DeepSeek-V4 without {', '.join(missing)}"
        )
    kinds = [kind for name, kind in vars(sparse_swa).items() if name.startswith("_LAYER_TYPE_")]
    builder = DeepseekV4CPUSparseSWAMetadataBuilder
    if set(kinds) <= set(builder.build_tile_scheduler(None, 0)):
        raise RuntimeError("its metadata names every kind of layer: drop this shim")
    builder.build_tile_scheduler = lambda _, __: dict.fromkeys(kinds)
    if missing:
        from shims import _deepseek_v4_in_torch  # noqa: PLC0415 - imports torch

        _deepseek_v4_in_torch.register()
        print(f"shim deepseek-v4-on-cpu: torch stands in for {', '.join(missing)}", flush=True)
