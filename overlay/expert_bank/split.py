# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The op that sends each pick to its bank and counts it: its schema and its kernels.

``expert_bank::split(counts, ids, scheduled, table)`` answers with the place of every pick
``ids[t, slot]``, its index into the rows ``[hot; cold]``, and adds one to
``counts[bank * E + expert]`` for the picks of the first ``scheduled`` tokens. Rows behind them are
padding: they are mapped, for kernels run over them too, and never counted. vLLM marks padding with
the id -1, so an id outside [0, E) is no error there: it gets place 0, which is a row of one of the
banks in every map, so that no kernel reads anywhere else.
"""

import torch

from expert_bank.pick_count import ones
from expert_bank.picked_ahead import of_table
from expert_bank.staging.table_now import table_now
from expert_bank.table_layout import BANK, PLACE

NAME = "expert_bank::split"
SCHEMA = "(Tensor(a!) counts, Tensor ids, Tensor scheduled, Tensor table) -> Tensor"


def split_reference(
    counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    """Map and count with torch's own operators; reads ``scheduled`` on the host.

    Args:
        counts: int32[2 * E], added to in place; wraps at 2**32, read as unsigned.
        ids: int32 or int64 [T, k], logical expert ids in [0, E); anything in padding rows.
        scheduled: int32[1], how many of the T rows are tokens.
        table: int32[4, E], see ``expert_bank.table_layout``.

    Returns:
        Places, [T, k] of the dtype of ``ids``, contiguous.

    Raises:
        IndexError: An id of a token is outside [0, E); nothing was counted.
    """
    given = ids.reshape(-1)
    try:
        places = table.select(0, PLACE).index_select(0, given)
    except IndexError:
        return _split_strangers(counts, ids, scheduled, table)
    tokens = scheduled.item()
    if tokens:
        picks = given if tokens == ids.shape[0] else given[: tokens * ids.shape[1]]
        banks = table.select(0, BANK).index_select(0, picks)
        cells = torch.add(picks, banks, alpha=table.shape[1])
        counts.index_add_(0, cells, ones(picks.shape[0]))
    if places.dtype is not ids.dtype:
        places = places.to(ids.dtype)
    # A shape that is given as one takes torch longer than the lookup.
    return places.view_as(ids)


def split_cpu(
    counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    """Do the same, and ask for cold rows that are in no memory, or map to those that were staged.

    See ``picked_ahead`` and ``staging``.
    """
    if (asks := of_table.get(table.data_ptr())) is not None:
        asks(ids)
    return split_reference(counts, ids, scheduled, table_now(table))


def _split_strangers(
    counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    """Do the same where some ids are no expert: padding's get place 0, a token's are refused."""
    experts = table.shape[1]
    strange = (ids < 0) | (ids >= experts)
    if bool(strange[: scheduled.item()].any()):
        raise IndexError(f"an expert id of a scheduled token is outside [0, {experts})")
    places = split_reference(counts, ids.masked_fill(strange, 0), scheduled, table)
    return places.masked_fill_(strange, 0)


def split_cuda(
    counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    """Map and count with one launch; may be captured, for it reads all on the device.

    Args:
        counts: int32[2 * E], contiguous, added to in place; wraps at 2**32, read as unsigned.
        ids: int32 or int64 [T, k]; ids outside [0, E) are left out of the counts, and their sum
            shows it.
        scheduled: int32[1], how many of the T rows are tokens.
        table: int32[4, E], contiguous, see ``expert_bank.table_layout``; where a step is staged, its own
            table is read.

    Returns:
        Places, [T, k] of the dtype of ``ids``, contiguous; 0 for ids outside [0, E).
    """
    from expert_bank.split_triton import launch  # noqa: PLC0415 - CPU builds lack Triton

    return launch(counts, ids, scheduled, table_now(table))


def split(
    counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    """Map and count: by the op where Dynamo traces, else by the kernel itself.

    Args:
        counts: int32[2 * E], added to in place; wraps at 2**32, read as unsigned.
        ids: int32 or int64 [T, k], logical expert ids in [0, E); anything in padding rows.
        scheduled: int32[1], how many of the T rows are tokens.
        table: int32[4, E], see ``expert_bank.table_layout``.

    Returns:
        Places, [T, k] of the dtype of ``ids``, contiguous.
    """
    if torch.compiler.is_compiling():
        places: torch.Tensor = torch.ops.expert_bank.split(counts, ids, scheduled, table)
        return places
    if counts.is_cuda:
        return split_cuda(counts, ids, scheduled, table)
    return split_cpu(counts, ids, scheduled, table)


def split_fake(
    counts: torch.Tensor,  # noqa: ARG001 - the op's signature
    ids: torch.Tensor,
    scheduled: torch.Tensor,  # noqa: ARG001 - the same
    table: torch.Tensor,  # noqa: ARG001 - the same
) -> torch.Tensor:
    """Answer with the shape and dtype that the op answers with."""
    return torch.empty(ids.shape, dtype=ids.dtype, device=ids.device)
