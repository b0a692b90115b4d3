"""Proof of effect: what the workers and the answers say of each feature, put side by side."""

from collections.abc import Callable, Mapping

from lanewright.errors import MismatchError
from lanewright.serve.banks import banked, require_resident
from lanewright.serve.counter import counted, left_alone
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import BANKS, COUNTER, FEATURES, carries_bank
from lanewright.serve.prefetching import prefetched
from lanewright.serve.seams import require_seams

PATCHES = {
    COUNTER: "patches/own/moe-usage-counter.patch",
    BANKS: "patches/own/moe-two-bank.patch",
}
# What a worker's status has beside the features.
WORKER = ("plugin", "pid", "experts", "ops", "prefetch_copies")
# What a feature that is on must show; one that is not here cannot be switched on.
PROVERS: Mapping[str, Callable[[Evidence, str, Mapping[str, object]], Proof]] = {
    COUNTER: counted,
    BANKS: banked,
}


def prove(
    env: LaneEnv, engine: Mapping[str, object], evidence: Evidence, where: str
) -> tuple[Proof, ...]:
    """Check that every feature is in effect where it is on, and absent where it is off.

    Args:
        env: The lane.
        engine: Arguments that the lane asked for.
        evidence: What the boot left behind.
        where: Which boot this was, for messages.

    Raises:
        MismatchError: A feature proves nothing, or the wrong thing; the message names it.
    """
    asked = {name: bool(engine.get(name, False)) for name in FEATURES}
    if not carries_bank(env):
        for name in (name for name, on in asked.items() if on):
            raise MismatchError(
                f"{where}: {name} is asked for, and without the expert_bank overlay nothing can"
                " prove it",
                hint=f"carry overlay/expert_bank in this lane, or drop {name}",
            )
        return ()
    _require_loaded(evidence, where)
    for name, on in asked.items():
        for worker in evidence.status:
            if bool(worker[name]) != on:
                raise MismatchError(
                    f"{where}: {name} was asked to be {on}, and worker {worker['pid']} has"
                    f" {worker[name]}",
                    hint=f"check that the lane's tree holds {PATCHES[name]}",
                )
    if not asked[BANKS]:
        require_resident(evidence, where)
    copies = prefetched(env, evidence, where)
    if not any(asked.values()):
        return (left_alone(evidence, where, engine), *copies)
    proofs = tuple(PROVERS[name](evidence, where, engine) for name, on in asked.items() if on)
    if asked[BANKS]:
        require_seams(env, evidence, where)
    return (*proofs, *copies)


def _require_loaded(evidence: Evidence, where: str) -> None:
    status = evidence.status
    if not status:
        raise MismatchError(f"{where}: no worker answered expert_bank_status")
    for what, told in (("usage", evidence.usage), ("banks", evidence.banks)):
        if len(told) != len(status):
            raise MismatchError(
                f"{where}: {len(status)} workers told their status, and {len(told)} their {what}"
            )
    for worker in status:
        if missing := sorted({*WORKER, *FEATURES} - worker.keys()):
            raise MismatchError(
                f"{where}: a worker's status lacks {', '.join(missing)}; its expert_bank is not one"
                " that this lanewright knows"
            )
        if not worker["plugin"]:
            raise MismatchError(
                f"{where}: expert_bank is on the path, but vLLM did not load its plugin in worker "
                f"{worker['pid']}",
                hint="check expert_bank-*.dist-info/entry_points.txt in the lane's tree",
            )
