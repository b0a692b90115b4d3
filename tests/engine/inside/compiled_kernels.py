"""Checks of what Triton compiles for real GPUs, which needs none: ``compiled_kernels.py RESULT``.

The interpreter lets pass what the compiler refuses, and hides what a kernel becomes.
"""

import re
from functools import cache

import triton
from checks import tell
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from expert_bank import (
    finalize_triton,
    grouped_gemm_triton,
    pick_count_triton,
    row_copy_triton,
    split_triton,
)

# H100 and H200, B200, GB300.
TARGETS = (90, 100, 103)
# What a program may have on each of them.
SHARED_BYTES = 227 * 1024
FLOATS = ("fp16", "bf16", "fp32")
# Pointers that torch allocated are multiples of 16.
ALIGNED = [["tt.divisibility", 16]]


@cache
def ptx(
    kernel: triton.JITFunction, target: int, signature: str, constants: str, options: str
) -> str:
    """Compile a kernel down to the GPU's own code; its PTX. Arguments are as in ``compiled``."""
    types = dict(zip(kernel.arg_names, signature.split(), strict=False))
    values = dict(each.split("=") for each in constants.split())
    types |= dict.fromkeys(values, "constexpr")
    source = ASTSource(
        kernel,
        signature=types,
        constexprs={name: int(v) if v.isdigit() else v for name, v in values.items()},
        attrs={
            (place,): ALIGNED
            for place, name in enumerate(kernel.arg_names)
            if types[name].startswith("*")
        },
    )
    given = {name: int(value) for name, value in (each.split("=") for each in options.split())}
    given["enable_fp_fusion"] = bool(given.get("enable_fp_fusion"))
    made = triton.compile(source, target=GPUTarget("cuda", target, 32), options=given)
    assert made.asm["cubin"]
    assert made.metadata.shared <= SHARED_BYTES, made.metadata.shared
    text: str = made.asm["ptx"]
    return text


def gemm(
    kernel: triton.JITFunction, target: int, dtype: str, tiles: grouped_gemm_triton.Tiles
) -> str:
    """One of the two GEMM kernels with a tile, at DeepSeek-V4.1's shapes."""
    first = kernel is grouped_gemm_triton.gate_up_kernel
    floats = f"*{dtype} *i64 *i32 *i32 *{dtype} i32 i32"
    k = " k=6" if first else ""
    return ptx(
        kernel,
        target,
        floats,
        f"K=7168 N=2048 block={tiles.picks} columns={tiles.columns} depth={tiles.depth} "
        f"precision={'ieee' if dtype == 'fp32' else 'tf32'}{k}",
        f"num_warps={tiles.warps} num_stages={tiles.stages}",
    )


def counting_and_splitting_compile() -> None:
    """For both id types; the add answers with nothing, so it is a reduction."""
    for target in TARGETS:
        for ids in ("i32", "i64"):
            for text in (
                ptx(
                    pick_count_triton.count_picks_kernel,
                    target,
                    f"*i32 *{ids} *i32 i32 i32",
                    "k=6 block=256",
                    "num_warps=4",
                ),
                ptx(
                    split_triton.split_kernel,
                    target,
                    f"*i32 *{ids} *i32 *i32 *i32 *{ids} i32 i32",
                    "k=6 block=256",
                    "num_warps=4",
                ),
            ):
                assert "relaxed" in text


def row_copies_move_whole_vectors() -> None:
    """16 bytes at once where rows allow it; single bytes for the rest."""
    for target in TARGETS:
        text = ptx(
            row_copy_triton.copy_rows_kernel,
            target,
            "*i64 *i64 *i64 *i32 *i64 i32",
            f"word_bytes={row_copy_triton.WORD_BYTES} vector_bytes={row_copy_triton.VECTOR_BYTES} "
            f"block={row_copy_triton.BLOCK}",
            "num_warps=4",
        )
        assert re.search(r"ld\.global\.v4\.b32", text)
        assert re.search(r"st\.global\.v4\.b32", text)
        assert re.search(r"ld\.global\.b8", text)
        assert not re.search(r"(ld|st)\.global\.v\d\.b8", text)


def gemms_compile_with_every_tile() -> None:
    """For every dtype; 16 bits are multiplied by tensor cores, 32 are not rounded to fewer."""
    for target in TARGETS:
        for tiles in (grouped_gemm_triton.FEW, grouped_gemm_triton.MANY):
            for dtype in FLOATS:
                for kernel in (
                    grouped_gemm_triton.gate_up_kernel,
                    grouped_gemm_triton.down_kernel,
                ):
                    text = gemm(kernel, target, dtype, tiles)
                    tensor_cores = re.search(r"\b(w?g?mma|tcgen05\.mma)\b", text) is not None
                    assert tensor_cores == (dtype != "fp32"), (target, tiles, dtype)
                    assert "tf32" not in text


def finalize_rounds_each_product_and_sum() -> None:
    """No fused multiply-add: the bits are those of torch's own operators."""
    fused = r"\bfma\.rn\.f32"
    for target in TARGETS:
        for dtype in FLOATS:
            for weights in ("fp32", dtype):
                one = (
                    finalize_triton.finalize_kernel,
                    target,
                    f"*{dtype} *{weights} *{dtype} i32 i32",
                    f"k=6 block={finalize_triton.BLOCK}",
                )
                calls = f"*{dtype} *{dtype} *{weights} *{weights} *i32 *i32"
                two = (
                    finalize_triton.finalize_merged_kernel,
                    target,
                    f"{calls} *{dtype} *i32 i32 i32 i32 i32",
                    f"k=6 block={finalize_triton.BLOCK}",
                )
                apart = (
                    f"num_warps=4 enable_fp_fusion={finalize_triton.OPTIONS['enable_fp_fusion']:d}"
                )
                for kernel in (one, two):
                    assert not re.search(fused, ptx(*kernel, apart))
            # What the option is for, or the search above would find nothing ever.
            assert re.search(fused, ptx(*one, "num_warps=4 enable_fp_fusion=1"))


CHECKS = (
    counting_and_splitting_compile,
    row_copies_move_whole_vectors,
    gemms_compile_with_every_tile,
    finalize_rounds_each_product_and_sum,
)


if __name__ == "__main__":
    tell(CHECKS)
