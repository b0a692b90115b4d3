"""The proof of a server's metrics: ``/metrics`` tells what its workers counted."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from expert_bank.metrics import METRICS
from lanewright.errors import MismatchError
from lanewright.serve.client import OK, RefusedError, post, request
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import BANKS

PICKS = "expert_bank_picks_total"
# What ``expert_bank_banks`` calls the same; of all layers together.
TOTALS = {
    "expert_bank_forwards_total": "forwards",
    "expert_bank_barriers_total": "barriers",
    "expert_bank_swaps_total": "swaps",
    "expert_bank_failed_swaps_total": "failed",
    "expert_bank_swap_bytes_total": "bytes",
}
_SAMPLE = re.compile(r"(expert_bank_\w+)(?:\{(.*)\})? (\S+)")
_LAYER = re.compile(r'layer="([^"]*)"')


def metrics_of(port: int, *, seconds: float) -> str:
    """Have the workers tell how they stand, and read ``/metrics``.

    Raises:
        RefusedError: The server did not answer.
    """
    post(port, "/collective_rpc", {"method": "expert_bank_stats"}, seconds=seconds)
    status, text = request(port, "GET", "/metrics", None, seconds=seconds)
    if status != OK:
        raise RefusedError(f"/metrics answered {status}")
    return text.decode(errors="replace")


def with_metrics(
    proofs: Sequence[Proof], text: str, evidence: Evidence, where: str
) -> tuple[Proof, ...]:
    """Prove that ``/metrics``, read at rest, has all of ours and the workers' numbers.

    Args:
        proofs: Of the features; that of the two banks gets it.
        text: Of ``/metrics``.
        evidence: What the workers told; nothing was asked since.
        where: Which boot this was, for messages.

    Raises:
        MismatchError: A metric is missing, or has another number.
    """
    told, facts = _measured(text, evidence, f"{where}: {BANKS}: /metrics")
    return tuple(
        replace(each, text=f"{each.text}; {told}", facts={**each.facts, **facts})
        if each.feature == BANKS
        else each
        for each in proofs
    )


def _measured(text: str, evidence: Evidence, who: str) -> tuple[str, dict[str, int]]:
    there = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
    if missing := [each.name for each in METRICS if each.name not in there]:
        raise MismatchError(
            f"{who} lacks {', '.join(missing)}",
            hint="it has what the worker writes to EXPERT_BANK_STATS; see the server's log",
        )
    samples = [each for line in text.splitlines() if (each := _SAMPLE.fullmatch(line))]
    picks: defaultdict[str, float] = defaultdict(float)
    shown: defaultdict[str, float] = defaultdict(float)
    for name, labels, value in (each.groups() for each in samples):
        shown[name] += float(value)
        if name == PICKS and (layer := _LAYER.search(labels or "")):
            picks[layer[1]] += float(value)
    usage, banks = next(filter(None, evidence.usage)), next(filter(None, evidence.banks))
    for layer_name, counts in zip(usage["layers"], usage["counts"], strict=True):
        if picks.get(layer_name) != sum(counts):
            raise MismatchError(
                f"{who} has {picks.get(layer_name, 0):.0f} picks of {layer_name}, and {sum(counts)}"
                " were counted"
            )
    for name, of_banks in TOTALS.items():
        if shown.get(name) != banks[of_banks]:
            raise MismatchError(
                f"{who} has {name} {shown.get(name)}, and the worker tells {banks[of_banks]}"
            )
    total = sum(map(sum, usage["counts"]))
    told = f"{total} picks of {len(usage['layers'])} layers on /metrics, as counted"
    return told, {"metrics_picks": total}
