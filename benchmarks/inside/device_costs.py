"""Times row copies and counts on the CUDA device that is here: ``device_costs.py RESULT BLOCKS``.

RESULT becomes a JSON object; times are milliseconds by the device's own clock.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from turns import WARM_UP, Act, captured, in_turns

from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.host_memory import HostMemory
from expert_bank.registration import Registration
from expert_bank.row_address import row_bytes
from expert_bank.row_copy import RowCopies
from expert_bank.split import split_cuda
from expert_bank.staging.batched import BatchedCopy
from expert_bank.staging.copies import Copies
from expert_bank.table_layout import BANK, PLACE

# One expert of the model that the lanes are for: MXFP4 codes and scales of w13, then of w2.
SIZES = (11_796_480, 737_280, 5_898_240, 368_640)
ROWS = (1, 8, 32)
LAYERS, EXPERTS, HOT, K = 40, 384, 295, 6
TOKENS = (6, 16, 32)
DEVICE = torch.device("cuda")


def addresses(rows: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Addresses of some rows, int64[n]."""
    return chosen.to(torch.int64) * row_bytes(rows) + rows.data_ptr()


def copies(blocks: int) -> list[dict[str, Any]]:
    """Rows of registered host memory to the device and back, and plain copies of as many bytes."""
    most, memory = max(ROWS), HostMemory()
    pages = memory.map(most * sum(SIZES))
    registration = Registration(pages, register=register_with_cuda, unregister=unregister_with_cuda)
    host, at = [], 0
    for size in SIZES:
        host.append(pages.tensor(torch.uint8, (most, size), at))
        at += most * size
    for each in host:
        each.random_(256)
    device = [torch.zeros(most, size, dtype=torch.uint8, device=DEVICE) for size in SIZES]
    pinned = torch.zeros(most * sum(SIZES), dtype=torch.uint8).pin_memory()
    plain = torch.zeros_like(pinned, device=DEVICE)
    batch = by_the_driver()
    found = []
    for rows in ROWS:
        length = rows * sum(SIZES)
        for way, to, of, target, source in (
            ("to the device", device, host, plain, pinned),
            ("to the host", host, device, pinned, plain),
        ):
            ours = RowCopies(SIZES, rows=rows, device=DEVICE)
            chosen = torch.randperm(most)[:rows].to(DEVICE)
            for number in range(len(SIZES)):
                ours.destinations[number] = addresses(to[number], chosen)
                ours.sources[number] = addresses(of[number], chosen)
            ours.count.fill_(rows)
            ours.run()
            sides = zip(to, of, strict=True)
            if not all(bool(rows_of(a, chosen).equal(rows_of(b, chosen))) for a, b in sides):
                raise RuntimeError(f"{rows} rows {way} are not what they were copied from")
            acts: dict[str, Act] = {
                "ours": ours.launch,
                "plain": partial(target[:length].copy_, source[:length], non_blocking=True),
                "loop": partial(one_by_one, to, of, chosen.tolist()),
            }
            if batch is not None:
                asked_for = Copies(*(np.concatenate(each) for each in listed(to, of, chosen)))
                acts["batched"] = partial(batch, asked_for)
                require_batched(acts["batched"], to, of, chosen)
            found.append({"rows": rows, "way": way, "bytes": length, **in_turns(acts, blocks)[0]})
    torch.cuda.synchronize()
    registration.close()
    return found


def by_the_driver() -> BatchedCopy | None:
    """Give what submits many copies at once; None where this Python has no vLLM, whose op that is."""
    try:
        from expert_bank.glue.side_stream import submit  # noqa: PLC0415
    except ImportError:
        return None
    return BatchedCopy(submit, torch.cuda.is_current_stream_capturing)


def listed(
    to: Sequence[torch.Tensor], of: Sequence[torch.Tensor], chosen: torch.Tensor
) -> tuple[list[np.ndarray], ...]:
    """List destinations, sources and sizes, int64[n] for each tensor."""
    rows = chosen.cpu()
    return (
        [addresses(each, rows).numpy() for each in to],
        [addresses(each, rows).numpy() for each in of],
        [np.full(len(rows), row_bytes(each), np.int64) for each in to],
    )


def require_batched(
    act: Act, to: Sequence[torch.Tensor], of: Sequence[torch.Tensor], chosen: torch.Tensor
) -> None:
    """See that a batch copies, to the last bit.

    Raises:
        RuntimeError: It does not.
    """
    for each in to:
        each[chosen.to(each.device)] = 0
    act()
    torch.cuda.synchronize()
    sides = zip(to, of, strict=True)
    if not all(bool(rows_of(a, chosen).equal(rows_of(b, chosen))) for a, b in sides):
        raise RuntimeError(f"{len(chosen)} rows of a batch are not what they were copied from")


def one_by_one(to: Sequence[torch.Tensor], of: Sequence[torch.Tensor], rows: list[int]) -> None:
    """Copy each row of each tensor by a call of its own."""
    for target, source in zip(to, of, strict=True):
        for row in rows:
            target[row].copy_(source[row], non_blocking=True)


def counts(blocks: int) -> list[dict[str, Any]]:
    """One graph of all layers' splits, with every token scheduled and with none."""
    found = []
    table = torch.zeros(4, EXPERTS, dtype=torch.int32, device=DEVICE)
    table[BANK, HOT:] = 1
    table[PLACE] = torch.arange(EXPERTS, dtype=torch.int32, device=DEVICE)
    counted = torch.zeros(LAYERS, 2 * EXPERTS, dtype=torch.int32, device=DEVICE)

    def step(ids: Sequence[torch.Tensor], scheduled: torch.Tensor) -> None:
        for cells, routed in zip(counted, ids, strict=True):
            split_cuda(cells, routed, scheduled, table)

    for tokens in TOKENS:
        drawn = torch.rand(LAYERS, tokens, EXPERTS, device=DEVICE)
        ids = list(drawn.topk(K).indices.int())
        graphs = {}
        for name, scheduled in (("mapped", 0), ("counted", tokens)):
            told = torch.full((1,), scheduled, dtype=torch.int32, device=DEVICE)
            graphs[name] = captured(partial(step, ids, told))
        times, _ = in_turns({name: graph.replay for name, graph in graphs.items()}, blocks)
        found.append({"tokens": tokens, "picks": tokens * K, "layers": LAYERS, **times})
    picks = (WARM_UP + blocks + 1) * LAYERS * K * sum(TOKENS)
    if int(counted.sum()) != picks:
        raise RuntimeError(f"{int(counted.sum())} picks were counted, and {picks} made")
    return found


def rows_of(rows: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Some rows, in host memory."""
    return rows[chosen.to(rows.device)].cpu()


if __name__ == "__main__":
    asked = int(sys.argv[2])
    Path(sys.argv[1]).write_text(json.dumps({"copies": copies(asked), "counts": counts(asked)}))
