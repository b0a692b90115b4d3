# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Stats as metrics: names and help texts by the convention of Prometheus."""

from expert_bank.metric import Metric, Samples, Stats, one
from expert_bank.staging_metrics import STAGING

AGE = "expert_bank_stats_age_seconds"


def _picks(stats: Stats) -> Samples:
    for layer in stats["layers"]:
        for bank in ("hot", "cold"):
            yield (layer["name"], bank), layer[f"{bank}_picks"]


def _swaps(stats: Stats) -> Samples:
    for layer in stats["layers"]:
        yield (layer["name"],), layer["swaps"]


def _rows(stats: Stats) -> Samples:
    for layer in stats["layers"]:
        yield (layer["name"],), layer["hot_rows"]


def _cold(stats: Stats) -> Samples:
    names = {"served": "late", **{each: each for each in ("boot", "oracle", "null")}}
    for of, name in names.items():
        if (share := stats["cold"][name]) is not None:
            yield (of,), share


def _regret(stats: Stats) -> Samples:
    for of in ("served", "oracle"):
        yield (of,), stats["regret"][of]


METRICS = (
    Metric(
        "expert_bank_picks_total",
        "counter",
        "Picks of experts by layer and by the bank that served them.",
        ("layer", "bank"),
        _picks,
    ),
    Metric(
        "expert_bank_forwards_total",
        "counter",
        "Scheduled forwards.",
        (),
        one("forwards"),
    ),
    Metric("expert_bank_tokens_total", "counter", "Scheduled tokens.", (), one("tokens")),
    Metric(
        "expert_bank_cold_share",
        "gauge",
        "Share of late picks (decayed) that was cold: as served; had the boot map served, or the"
        " best map for the picks before (oracle); or were all experts picked alike (null).",
        ("of",),
        _cold,
    ),
    Metric(
        "expert_bank_cold_picks_total",
        "counter",
        "Cold picks while a map followed: as served, and had the best map for the picks before"
        " served (oracle). Their difference is the regret.",
        ("of",),
        _regret,
    ),
    Metric(
        "expert_bank_barriers_total",
        "counter",
        "Barriers between forwards at which swaps were asked for.",
        (),
        one("swapping", "barriers"),
    ),
    Metric(
        "expert_bank_barrier_seconds_total",
        "counter",
        "Seconds spent at barriers at which swaps were asked for, waiting for the device included;"
        " a map that follows has waited before (expert_bank_following_drain_seconds_total).",
        (),
        one("swapping", "seconds"),
    ),
    Metric(
        "expert_bank_decisions_total",
        "counter",
        "Times that a policy was asked what to swap, whatever it answered.",
        (),
        one("decisions"),
    ),
    Metric(
        "expert_bank_deciding_seconds_total",
        "counter",
        "Seconds spent reading counts and deciding what to swap, on a drained device.",
        (),
        one("deciding_seconds"),
    ),
    Metric(
        "expert_bank_following_drain_seconds_total",
        "counter",
        "Seconds spent waiting, before a policy decides, until the device had done what was enqueued;"
        " the forwards' own work included.",
        (),
        one("following_drain_seconds"),
    ),
    Metric(
        "expert_bank_swaps_total", "counter", "Swaps that were made, by layer.", ("layer",), _swaps
    ),
    Metric(
        "expert_bank_failed_swaps_total",
        "counter",
        "Swaps that failed and left an expert where it was.",
        (),
        one("swapping", "failed"),
    ),
    Metric(
        "expert_bank_cut_swaps_total",
        "counter",
        "Swaps that a barrier was asked for and that its budget of bytes or seconds cut.",
        (),
        one("swapping", "cut"),
    ),
    Metric(
        "expert_bank_waiting_swaps",
        "gauge",
        "Swaps that were worth it at the last barrier and wait, for they were over its bytes.",
        (),
        one("swapping", "waiting"),
    ),
    Metric(
        "expert_bank_swap_bytes_total",
        "counter",
        "Bytes that swaps copied and verified.",
        (),
        one("swapping", "bytes"),
    ),
    Metric("expert_bank_frozen", "gauge", "Whether the map is frozen.", (), one("frozen")),
    Metric(
        "expert_bank_trusted",
        "gauge",
        "Whether the map that follows traffic is served (1), or the boot map in its place (0).",
        (),
        one("guard", "trusted"),
    ),
    Metric(
        "expert_bank_fallbacks_total",
        "counter",
        "Times that the map that follows traffic was given up for the boot map.",
        (),
        one("guard", "fallbacks"),
    ),
    Metric(
        "expert_bank_returns_total",
        "counter",
        "Times that it came back.",
        (),
        one("guard", "returns"),
    ),
    Metric("expert_bank_hot_rows", "gauge", "Hot rows by layer.", ("layer",), _rows),
    *STAGING,
)
