# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Metrics of prefill staging; without a buffer they have no sample."""

from collections.abc import Callable

from expert_bank.metric import Metric, Samples, Stats


def _one(name: str) -> Callable[[Stats], Samples]:
    """Read one number; one that is null has no sample, nor has any of stats of before they were told."""

    def read(stats: Stats) -> Samples:
        value = (stats.get("staging") or {}).get(name)
        if value is not None:
            yield (), float(value)

    return read


def _refused(stats: Stats) -> Samples:
    for why, steps in (stats.get("staging") or {}).get("refused", {}).items():
        yield (why,), steps


STAGING = (
    Metric(
        "expert_bank_staged_steps_total",
        "counter",
        "Steps whose cold rows were staged.",
        (),
        _one("steps"),
    ),
    Metric(
        "expert_bank_unstaged_steps_total",
        "counter",
        "Steps whose cold rows were read in place, by why.",
        ("why",),
        _refused,
    ),
    Metric(
        "expert_bank_staged_bytes_total",
        "counter",
        "Bytes of cold rows that were copied into the staging buffer.",
        (),
        _one("bytes"),
    ),
    Metric(
        "expert_bank_late_staged_rows_total",
        "counter",
        "Rows of them whose copy could not begin a layer ahead, for their slots were still read.",
        (),
        _one("late"),
    ),
    Metric(
        "expert_bank_staging_least_tokens",
        "gauge",
        "Tokens from which on a step that computes a prompt is staged now; no sample where none is.",
        (),
        _one("least_tokens"),
    ),
    Metric(
        "expert_bank_staging_on",
        "gauge",
        "Whether steps may be staged: 0 where that is switched off, or ended by a failure.",
        (),
        _one("on"),
    ),
)
