# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Registration of this package's torch operators."""

import torch

from expert_bank import pick_count, split
from expert_bank.recording import op as recording

OPS = (
    (
        pick_count.NAME,
        pick_count.SCHEMA,
        pick_count.count_picks_reference,
        pick_count.count_picks_cuda,
        pick_count.count_picks_fake,
    ),
    (split.NAME, split.SCHEMA, split.split_cpu, split.split_cuda, split.split_fake),
    (
        recording.NAME,
        recording.SCHEMA,
        recording.keep_picks_anywhere,
        recording.keep_picks_anywhere,
        recording.keep_picks_fake,
    ),
)


def registered() -> bool:
    """Tell whether this process has an op of ours."""
    return any(name.startswith("expert_bank::") for name in _defined())


def register() -> None:
    """Define the ops in this process; calling it again changes nothing."""
    defined = set(_defined())
    for name, schema, cpu, cuda, fake in OPS:
        if name in defined:
            continue
        torch.library.define(name, schema, tags=(torch.Tag.pt2_compliant_tag,))
        torch.library.impl(name, "CPU", cpu)
        torch.library.impl(name, "CUDA", cuda)
        torch.library.register_fake(name, fake)


def _defined() -> list[str]:
    """Names of all operators of the process."""
    names: list[str] = torch._C._dispatch_get_all_op_names()  # noqa: SLF001 - there is no public list
    return names
