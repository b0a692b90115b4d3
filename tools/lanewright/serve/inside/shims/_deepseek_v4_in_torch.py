"""The kernels of DeepSeek-V4's port for CPUs, in plain torch, for builds of vLLM without them."""

from collections.abc import Callable
from typing import Any

import torch
from torch.library import Library, infer_schema

from shims import _dsv4_attention as attention
from shims import _dsv4_compressor as compressor
from shims import _dsv4_indexer as indexer
from shims import _dsv4_mixing as mixing

# What each op writes to. The port is not compiled, so that nothing asks what they are without data.
OPS: dict[Callable[..., Any], tuple[str, ...]] = {
    attention.fused_qnorm_rope_kv_insert_cpu: ("swa_kv_cache_2d",),
    attention.flash_mla_with_kvcache_cpu: ("out",),
    attention.inverse_gptj_rope_o_proj_cpu: (),
    compressor.save_partial_states_cpu: ("state_cache",),
    compressor.compress_norm_rope_store_cpu: ("kv_cache_2d",),
    compressor.compress_norm_rope_store_indexer_cpu: ("kv_cache_2d",),
    indexer.fused_indexer_q_rope_quant_cpu: ("index_q_fp8", "index_weights_out"),
    indexer.fp8_paged_mqa_logits_cpu: (),
    indexer.topk_transform_512_cpu: ("out_page_indices", "out_raw_indices"),
    mixing.hc_pre_fused_cpu: (),
    mixing.hc_post_fused_cpu: (),
    mixing.hc_head_fused_cpu: (),
    mixing.bmm_cpu: ("out",),
    mixing.biased_topk_cpu: (),
    mixing.hash_topk_cpu: (),
}
# What is registered lasts as long as its library.
LIBRARIES: list[torch.library.Library] = []


def register(namespace: str = "_C") -> None:
    """Register the ops, none of which may be there."""
    library = Library(namespace, "FRAGMENT")
    LIBRARIES.append(library)
    for op, written in OPS.items():
        library.define(op.__name__ + infer_schema(op, mutates_args=written))
        library.impl(op.__name__, op, "CPU")
