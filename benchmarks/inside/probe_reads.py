"""E2's part that needs torch: ``probe_reads.py RESULT BLOCKS``, on CUDA, or under the interpreter.

RESULT becomes a JSON object: ``checked``, how many launches were held against the rows' sums; ``wrong``, in
words; ``rows``, times in milliseconds by the device's own clock, none without blocks.
"""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch
from read_rows_triton import read_rows
from turns import Act, in_turns

from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.host_memory import HostMemory
from expert_bank.registration import Registration

# One expert of the model that the lanes are for, whole.
ROW_BYTES = 18_800_640
ROWS = (1, 2, 6, 12, 24, 33)
REPEATS = (2, 4)
ORDERS = ("adjacent", "apart")
WORD = 4


def addresses(rows: torch.Tensor) -> torch.Tensor:
    """Addresses of the rows of int32[N, words], int64[N], in the same place."""
    words = rows.shape[1]
    return torch.arange(len(rows), dtype=torch.int64) * words * WORD + rows.data_ptr()


def wrapped(rows: torch.Tensor) -> torch.Tensor:
    """Sum each row modulo 2**32, int32[N]."""
    return rows.sum(dim=1, dtype=torch.int64).to(torch.int32)


def probe(blocks: int) -> dict[str, Any]:
    """Read rows, and time it where there are blocks."""
    if not blocks:
        return _checked(torch.randint(-(2**31), 2**31, (3, 5000), dtype=torch.int32))
    memory, most = HostMemory(), max(ROWS)
    pages = memory.map(most * ROW_BYTES)
    registration = Registration(pages, register=register_with_cuda, unregister=unregister_with_cuda)
    host = pages.tensor(torch.int32, (most, ROW_BYTES // WORD), 0)
    host.random_(-(2**31), 2**31 - 1)
    sums, device = wrapped(host), torch.empty_like(host, device="cuda")
    found: dict[str, Any] = {"checked": 0, "wrong": [], "rows": []}
    for rows in ROWS:
        for repeats in REPEATS:
            for order in ORDERS:
                _measured(host[:rows], device[:rows], sums[:rows], repeats, order, blocks, found)
    torch.cuda.synchronize()
    registration.close()
    return found


def _measured(
    host: torch.Tensor,
    device: torch.Tensor,
    sums: torch.Tensor,
    repeats: int,
    order: str,
    blocks: int,
    found: dict[str, Any],
) -> None:
    rows, words = host.shape
    of_host, of_device = (addresses(each).to("cuda") for each in (host, device))
    seen = {
        name: torch.zeros(many, rows, dtype=torch.int32, device="cuda")
        for name, many in (("once", 1), ("several", repeats), ("copied", repeats))
    }
    read = partial(read_rows, words=words, apart=order == "apart")

    def copied() -> None:
        device.copy_(host, non_blocking=True)
        read(of_device, seen["copied"], repeats=repeats)

    acts: dict[str, Act] = {
        "once": partial(read, of_host, seen["once"], repeats=1),
        "several": partial(read, of_host, seen["several"], repeats=repeats),
        "copied": copied,
    }
    times, ran = in_turns(acts, blocks)
    wanted = (sums.to(torch.int64) * ran).to(torch.int32)
    for name, each in seen.items():
        found["checked"] += 1
        if not all(bool(got.equal(wanted)) for got in each.cpu()):
            found["wrong"].append(f"{rows} rows read {repeats} times {order}: {name}")
    found["rows"].append(
        {"rows": rows, "bytes": rows * words * WORD, "repeats": repeats, "order": order, **times}
    )


def _checked(rows: torch.Tensor) -> dict[str, Any]:
    wrong, checked = [], 0
    for repeats in (1, *REPEATS):
        for order in ORDERS:
            sums = torch.zeros(repeats, len(rows), dtype=torch.int32)
            read_rows(addresses(rows), sums, rows.shape[1], repeats=repeats, apart=order == "apart")
            checked += 1
            if not all(bool(each.equal(wrapped(rows))) for each in sums):
                wrong.append(f"{len(rows)} rows read {repeats} times {order}")
    return {"checked": checked, "wrong": wrong, "rows": []}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(probe(int(sys.argv[2]))))
