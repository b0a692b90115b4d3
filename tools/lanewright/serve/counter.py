"""The proof of the usage counter: exact where it is on, absent where it is off."""

from collections.abc import Mapping
from typing import Any

from lanewright.errors import MismatchError
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import COUNTER
from lanewright.serve.usage import usage_map


def counted(evidence: Evidence, where: str, engine: Mapping[str, object]) -> Proof:
    """Prove that every worker counts, and exactly.

    Raises:
        MismatchError: One counts nothing, or another number than it must.
    """
    computed = evidence.earlier.tokens + sum(
        each.prompt_tokens + len(each.ids) - 1 - each.cached_tokens for each in evidence.completions
    )
    drafts = bool(engine.get("speculative_config"))
    for number, (worker, usage) in enumerate(zip(evidence.status, evidence.usage, strict=True)):
        who = f"{where}: {COUNTER}: worker {worker['pid']}"
        if usage is None:
            raise MismatchError(
                f"{where}: {COUNTER} is on and proves nothing: worker {worker['pid']} counts"
                f" nothing, its MoE layers are {', '.join(worker['experts']) or 'none'}",
                hint="the worker class must be expert_bank's; see worker_cls in the lane's [engine]",
            )
        if not any(map(any, usage["counts"])):
            raise MismatchError(
                f"{where}: {COUNTER} is on and proves nothing: worker {worker['pid']} counted no"
                " pick at all"
            )
        _require_exact(usage, who)
        if evidence.moe:
            _require_whole(usage, evidence.moe[number], who)
        tokens = usage["tokens"]
        if tokens < computed or (tokens > computed and not drafts):
            raise MismatchError(
                f"{who} was scheduled {tokens} tokens, and by the answers (prompt + output - 1 -"
                f" cached) they are {computed}"
            )
    return _proof(evidence, computed, drafts=drafts)


def _require_exact(usage: Mapping[str, Any], who: str) -> None:
    """Picks == scheduled tokens x k x layers, in every layer and in all; none impossible."""
    tokens, k, layers = usage["tokens"], usage["picks_per_token"], len(usage["layers"])
    picks = sum(map(sum, usage["counts"]))
    if picks != tokens * k * layers:
        raise MismatchError(
            f"{who} counted {picks} picks, and {tokens} scheduled tokens x {k} experts x {layers}"
            f" layers are {tokens * k * layers}"
        )
    for layer, row in zip(usage["layers"], usage["counts"], strict=True):
        if sum(row) != tokens * k:
            raise MismatchError(
                f"{who} counted {sum(row)} picks in {layer}, and {tokens} scheduled tokens x {k}"
                f" experts are {tokens * k}"
            )
        if not all(0 <= count <= tokens for count in row):
            raise MismatchError(
                f"{who} counted an expert of {layer} more often than {tokens} scheduled tokens can"
                " pick it, or less than never"
            )


def _require_whole(usage: Mapping[str, Any], moe: Mapping[str, int], who: str) -> None:
    """What is counted is all that the model has, by vLLM's own modules."""
    told = {
        "layers": len(usage["layers"]),
        "experts": len(usage["counts"][0]),
        "picks_per_token": usage["picks_per_token"],
    }
    if told != moe:
        raise MismatchError(f"{who} counts {told}, and its model has {dict(moe)}")


def _proof(evidence: Evidence, computed: int, *, drafts: bool) -> Proof:
    """Sum up what every worker holds true.

    Drafted tokens are scheduled, too, whether or not they are taken: with them the answers tell
    only how many tokens there were at least.
    """
    counts = usage_map(evidence.usage)
    first = next(filter(None, evidence.usage))
    tokens, k = first["tokens"], first["picks_per_token"]
    picks = sum(map(sum, counts.values()))
    facts = {
        "workers": len(evidence.usage),
        "picks": picks,
        "tokens": tokens,
        "picks_per_token": k,
        "layers": len(counts),
        "tokens_by_answers": computed,
    }
    text = (
        f"{picks} picks = {tokens} scheduled tokens x {k} experts x {len(counts)} layers;"
        f" prompt + output - 1 - cached = {computed} tokens{', the rest drafts' * drafts}"
    )
    return Proof(COUNTER, on=True, facts=facts, text=text)


def left_alone(evidence: Evidence, where: str, _engine: Mapping[str, object]) -> Proof:
    """Prove that all off means off: vLLM's own layers, no op of ours, nothing counted.

    Raises:
        MismatchError: Something of ours is there all the same.
    """
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
