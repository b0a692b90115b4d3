"""The proof of the two banks: both served picks, all rows are whole, and swaps did swap."""

from collections.abc import Mapping
from typing import Any

from lanewright.errors import MismatchError
from lanewright.serve.cold_file import require_file, told_file
from lanewright.serve.counter import counted
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import BANKS
from lanewright.serve.following import require_following, told_following
from lanewright.serve.seams import told_seams
from lanewright.serve.staging import require_staging, told_staging


def banked(evidence: Evidence, where: str, engine: Mapping[str, object]) -> Proof:
    """Prove that every worker serves its picks from two banks, each counted once.

    Raises:
        MismatchError: One does not, or a row is not what was loaded; the message names layer and
            expert.
    """
    of_all = counted(evidence, where, engine).facts
    picks = of_all["picks"]
    told = [
        _require_banked(
            worker["pid"], banks, where, picks, engine, evidence.earlier.of(number, "forwards")
        )
        for number, (worker, banks) in enumerate(zip(evidence.status, evidence.banks, strict=True))
    ]
    first = told[0]
    experts = len(next(filter(None, evidence.usage))["counts"][0])
    facts = {
        "workers": len(told),
        "picks": picks,
        "tokens": of_all["tokens"],
        "hot_rows": sum(first["hot_rows"]),
        "follows": int(bool(first.get("follows"))),
        "decisions": first["follows"]["decisions"] if first.get("follows") else 0,
        "mixed_layers": sum(0 < rows < experts for rows in first["hot_rows"]),
        **{
            name: first[name]
            for name in ("hot_picks", "cold_picks", "barriers", "swaps", "failed", "bytes")
        },
        "swapped": first["swaps"] - evidence.earlier.of(0, "swaps"),
        **({"file_read": first["file"]["read"]} if first.get("file") else {}),
        **({"staged": first["staging"]["bytes"]} if first.get("staging") else {}),
        **{f"{seam}_calls": each["calls"] for seam, each in first.get("seams", {}).items()},
    }
    cold = first["cold_picks"] / picks
    moved = (
        f"{first['swaps']} swaps at {first['barriers']} barriers moved {first['bytes']} bytes in"
        f" {first['seconds']:.3f} s"
        if first["swaps"]
        else "no swap was asked for"
    )
    more = *told_file(first), *told_staging(first), *told_seams(first)
    text = (
        f"{first['hot_picks']} hot + {first['cold_picks']} cold picks ({cold:.1%} cold) = {picks};"
        f" {'; '.join((moved, *told_following(first)))}; every expert's row is as it was loaded"
        f"{''.join(f'; {each}' for each in more)}"
    )
    return Proof(BANKS, on=True, facts=facts, text=text)


def require_resident(evidence: Evidence, where: str) -> None:
    """Prove that no worker has a second bank.

    Raises:
        MismatchError: One has.
    """
    for worker, banks in zip(evidence.status, evidence.banks, strict=True):
        if banks is not None:
            raise MismatchError(
                f"{where}: {BANKS} is off, and worker {worker['pid']} serves from two banks"
            )


def _require_banked(
    pid: int,
    banks: Mapping[str, Any] | None,
    where: str,
    picks: int,
    engine: Mapping[str, object],
    earlier: int,
) -> Mapping[str, Any]:
    who = f"{where}: {BANKS}: worker {pid}"
    if banks is None:
        raise MismatchError(
            f"{where}: {BANKS} is on and proves nothing: worker {pid} has all experts resident",
            hint="the worker class must be expert_bank's; see worker_cls in the lane's [engine]",
        )
    if banks["audit"]:
        raise MismatchError("\n  ".join([f"{who} has rows that are wrong:", *banks["audit"]]))
    if banks["hot_picks"] + banks["cold_picks"] != picks:
        raise MismatchError(
            f"{who} served {banks['hot_picks']} hot and {banks['cold_picks']} cold picks, and"
            f" {picks} were counted"
        )
    if not banks["cold_picks"]:
        raise MismatchError(f"{who} proves nothing: no pick was served from the cold bank")
    require_file(who, banks, engine)
    require_following(where, banks, engine, earlier)
    require_staging(who, banks, engine)
    if banks["failed"]:
        failures = "\n  ".join(banks["failures"])
        raise MismatchError(f"{who}: {banks['failed']} swaps failed:\n  {failures}")
    if banks["swaps"] and not banks["bytes"]:
        raise MismatchError(f"{who} swapped {banks['swaps']} times and moved nothing")
    return banks
