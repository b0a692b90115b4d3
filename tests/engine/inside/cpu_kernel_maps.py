"""The CPU's expert kernels over random maps: ``cpu_kernel_maps.py RESULT``.

Random weights lie in ``[hot; cold]`` by 200 random maps, each made from the last one by swaps or
drawn anew; what no expert has is NaN. The output's bits must be those of the first map. All kernels
are vLLM's own, but for MXFP4 where its build has none: there it is torch's that the shim brings, and
the case's name says so.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shims
import torch

# Before vLLM's ops are asked for: one may be stood in for.
shims.apply()
from vllm import _custom_ops as ops  # noqa: E402

E, K, HIDDEN, INNER = 16, 4, 64, 64
MAPS = 200
TOKENS = (1, 3, 17)
Rows = dict[str, torch.Tensor]
Kernel = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Rows], torch.Tensor]


def plain(dtype: torch.dtype, *, bias: bool) -> tuple[Rows, Kernel, torch.dtype]:
    """Experts without quantisation, as ``CPUUnquantizedExperts`` runs them."""
    draw = torch.Generator().manual_seed(1)
    w13 = torch.randn(E, 2 * INNER, HIDDEN, generator=draw).to(dtype)
    w2 = torch.randn(E, HIDDEN, INNER, generator=draw).to(dtype)
    rows = {
        "w13": ops.cpu_prepack_moe_weight(w13, "vec"),
        "w2": ops.cpu_prepack_moe_weight(w2, "vec"),
    }
    if bias:
        rows["b13"] = torch.randn(E, 2 * INNER, generator=draw).to(dtype)
        rows["b2"] = torch.randn(E, HIDDEN, generator=draw).to(dtype)

    def kernel(
        x: torch.Tensor, weights: torch.Tensor, places: torch.Tensor, rows: Rows
    ) -> torch.Tensor:
        out = torch.empty_like(x)
        ops.cpu_fused_moe(
            out,
            x,
            rows["w13"],
            rows["w2"],
            rows.get("b13"),
            rows.get("b2"),
            weights,
            places,
            "silu",
            "vec",
        )
        return out

    return rows, kernel, dtype


def packed() -> tuple[Rows, Kernel, torch.dtype]:
    """MXFP4 experts, as ``CPUExpertsMxfp4`` runs them: weights and scales are rows."""
    draw = torch.Generator().manual_seed(2)

    def bytes_of(low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, dtype=torch.uint8, generator=draw)

    compiled = torch.ops._C  # noqa: SLF001 - where vLLM registers its kernels
    rows = {
        "w13": compiled.convert_weight_packed(bytes_of(0, 256, E, 2 * INNER, HIDDEN // 2)),
        "w2": compiled.convert_weight_packed(bytes_of(0, 256, E, HIDDEN, INNER // 2)),
        "s13": compiled.convert_scale_packed(bytes_of(120, 126, E, 2 * INNER, HIDDEN // 32)),
        "s2": compiled.convert_scale_packed(bytes_of(120, 126, E, HIDDEN, INNER // 32)),
    }

    def kernel(
        x: torch.Tensor, weights: torch.Tensor, places: torch.Tensor, rows: Rows
    ) -> torch.Tensor:
        out = torch.empty_like(x)
        ops.fused_experts_cpu(
            out,
            x,
            rows["w13"],
            rows["w2"],
            weights,
            places,
            ops.CPUQuantMethod.MXFP4,
            rows["s13"],
            rows["s2"],
            None,
            None,
            None,
        )
        return out

    return rows, kernel, torch.bfloat16


# The module is there where it stands in.
MXFP4 = f"mxfp4 of {'torch' if 'shims._mxfp4_in_torch' in sys.modules else 'vllm'}"
CASES: dict[str, Callable[[], tuple[Rows, Kernel, torch.dtype]]] = {
    "bfloat16": lambda: plain(torch.bfloat16, bias=False),
    "bfloat16 with biases": lambda: plain(torch.bfloat16, bias=True),
    "float16": lambda: plain(torch.float16, bias=False),
    "float32": lambda: plain(torch.float32, bias=False),
    MXFP4: packed,
}


def laid(rows: Rows, places: list[int], count: int) -> Rows:
    """Lay each expert's row at its place; every other row is NaN."""
    found = {}
    for name, logical in rows.items():
        whole = torch.empty((count, *logical.shape[1:]), dtype=logical.dtype)
        whole.reshape(count, -1).view(torch.uint8).fill_(0xFF)
        for expert, place in enumerate(places):
            whole[place].copy_(logical[expert])
        found[name] = whole
    return found


def check(name: str) -> dict[str, Any]:
    """Run a case over all maps; how many differ from the first in any bit."""
    rows, kernel, dtype = CASES[name]()
    draw = torch.Generator().manual_seed(3)
    inputs = []
    for tokens in TOKENS:
        ids = torch.stack([torch.randperm(E, generator=draw)[:K] for _ in range(tokens)])
        weights = torch.rand(tokens, K, generator=draw)
        inputs.append((torch.randn(tokens, HIDDEN, generator=draw).to(dtype), weights, ids))
    expected: list[torch.Tensor] | None = None
    different, moved, finite = 0, 0, True
    places, count = list(range(E)), E
    for number in range(MAPS):
        if number % 20 == 0:
            # As many hot rows, a mirror or a spare row: any number of rows from E on.
            count = E + int(torch.randint(0, E + 1, (1,), generator=draw))
            places = torch.randperm(count, generator=draw)[:E].tolist()
        else:
            a, b = torch.randperm(E, generator=draw)[:2].tolist()
            places[a], places[b] = places[b], places[a]
        whole = laid(rows, places, count)
        remap = torch.tensor(places, dtype=torch.int32)
        found = [kernel(x, w, remap[ids], whole) for x, w, ids in inputs]
        finite = finite and all(bool(each.isfinite().all()) for each in found)
        if expected is None:
            expected = found
            # A kernel that looked at nothing would be equal, too.
            wrong = laid(rows, [*places[1:], places[0]], count)
            moved = sum(
                not torch.equal(kernel(x, w, remap[ids], wrong), right)
                for (x, w, ids), right in zip(inputs, found, strict=True)
            )
        different += any(
            not torch.equal(a.view(torch.uint8), b.view(torch.uint8))
            for a, b in zip(found, expected, strict=True)
        )
    return {"maps": MAPS, "different": different, "moved": moved, "finite": finite}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps({name: check(name) for name in CASES}))
