"""Proof of effect: what the workers and the answers say of each feature, put side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lanewright.errors import MismatchError
from lanewright.serve.boot import Completion
from lanewright.serve.environment import LaneEnv
from lanewright.serve.features import FEATURES, carries_bank

COUNTER = "moe_usage_counter"


@dataclass(frozen=True)
class Evidence:
    """What one boot left behind.

    Attributes:
        status: ``expert_bank_status`` of each worker.
        usage: ``expert_bank_usage`` of each worker, after the last answer.
        completions: Every answer that the boot gave; nothing else was asked, nothing preempted.
    """

    status: tuple[Mapping[str, Any], ...]
    usage: tuple[Mapping[str, Any] | None, ...]
    completions: tuple[Completion, ...]


@dataclass(frozen=True)
class Proof:
    """What is proven of one feature.

    Attributes:
        feature: The engine argument that switches it.
        on: Whether the lane switches it on; off is proven, too.
        facts: The numbers that were compared.
        text: The same for people.
    """

    feature: str
    on: bool
    facts: Mapping[str, int]
    text: str


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
    _require_loaded(evidence.status, where)
    for worker in evidence.status:
        if bool(worker[COUNTER]) != asked[COUNTER]:
            raise MismatchError(
                f"{where}: {COUNTER} was asked to be {asked[COUNTER]}, and worker {worker['pid']}"
                f" has {worker[COUNTER]}",
                hint="check that the lane's tree holds patches/own/moe-usage-counter.patch",
            )
    if asked[COUNTER]:
        return (_counted(evidence, where, drafts="speculative_config" in engine),)
    return (_left_alone(evidence, where),)


def _require_loaded(status: Sequence[Mapping[str, Any]], where: str) -> None:
    if not status:
        raise MismatchError(f"{where}: no worker answered expert_bank_status")
    for worker in status:
        if not worker["plugin"]:
            raise MismatchError(
                f"{where}: expert_bank is on the path, but vLLM did not load its plugin in worker "
                f"{worker['pid']}",
                hint="check expert_bank-*.dist-info/entry_points.txt in the lane's tree",
            )


def _counted(evidence: Evidence, where: str, *, drafts: bool) -> Proof:
    """Prove the counter: picks == scheduled tokens x k x layers, and tokens as the answers say.

    Drafted tokens are scheduled, too, whether or not they are taken: with them the answers tell
    only how many tokens there were at least.
    """
    nothing = f"{where}: {COUNTER} is on and proves nothing"
    computed = sum(
        each.prompt_tokens + len(each.ids) - 1 - each.cached_tokens for each in evidence.completions
    )
    for worker, usage in zip(evidence.status, evidence.usage, strict=True):
        if usage is None:
            raise MismatchError(
                f"{nothing}: worker {worker['pid']} counts nothing, its MoE layers are"
                f" {', '.join(worker['experts']) or 'none'}",
                hint="the worker class must be expert_bank's; see worker_cls in the lane's [engine]",
            )
        picks, tokens = sum(map(sum, usage["counts"])), usage["tokens"]
        k, layers = usage["picks_per_token"], len(usage["layers"])
        if not picks:
            raise MismatchError(f"{nothing}: worker {worker['pid']} counted no pick at all")
        if picks != tokens * k * layers:
            raise MismatchError(
                f"{where}: {COUNTER}: worker {worker['pid']} counted {picks} picks, and {tokens}"
                f" scheduled tokens x {k} experts x {layers} layers are {tokens * k * layers}"
            )
        if tokens < computed or (tokens > computed and not drafts):
            raise MismatchError(
                f"{where}: {COUNTER}: worker {worker['pid']} was scheduled {tokens} tokens, and by"
                f" the answers (prompt + output - 1 - cached) they are {computed}"
            )
        facts = {
            "workers": len(evidence.usage),
            "picks": picks,
            "tokens": tokens,
            "picks_per_token": k,
            "layers": layers,
            "tokens_by_answers": computed,
        }
    text = (
        f"{picks} picks = {tokens} scheduled tokens x {k} experts x {layers} layers;"
        f" prompt + output - 1 - cached = {computed} tokens{', the rest drafts' * drafts}"
    )
    return Proof(COUNTER, on=True, facts=facts, text=text)


def _left_alone(evidence: Evidence, where: str) -> Proof:
    """Prove that off means off: vLLM's own layers, no op of ours, nothing counted."""
    for worker, usage in zip(evidence.status, evidence.usage, strict=True):
        ours = [name for name in worker["experts"] if not name.startswith("vllm.")]
        if ours or worker["ops"] or usage is not None:
            raise MismatchError(
                f"{where}: {COUNTER} is off, and worker {worker['pid']} is not vLLM's own: its MoE"
                f" layers are {', '.join(worker['experts'])}; op registered: {worker['ops']};"
                f" counting: {usage is not None}"
            )
    return Proof(
        COUNTER,
        on=False,
        facts={"workers": len(evidence.status)},
        text="off: every MoE layer's class is vLLM's own, no op of ours is registered",
    )
