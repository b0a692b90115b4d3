"""The proof that a prefetching offloader's copies go in batches, where a lane carries the hook for it."""

from lanewright.errors import MismatchError
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence, Proof

CLAIM = "prefetch.copy"
PATCH = "patches/own/prefetch-batched-copies.patch"
OFFLOADER = "vllm/model_executor/offloader/prefetch.py"
HOOK = b"expert_bank.glue.prefetch_copy"


def carries_hook(env: LaneEnv) -> bool:
    """Tell whether the offloader of the lane's tree asks our overlay to copy."""
    file = env.site / OFFLOADER
    return file.is_file() and HOOK in file.read_bytes()


def prefetched(env: LaneEnv, evidence: Evidence, where: str) -> tuple[Proof, ...]:
    """Prove that every worker's offloader copied in batches; nothing where the lane has no such hook.

    Args:
        env: The lane, which carries the overlay.
        evidence: What the boot left behind.
        where: Which boot this was, for messages.

    Raises:
        MismatchError: A worker copied nothing that way, or is hooked and the lane is not.
    """
    carried = carries_hook(env)
    for worker in evidence.status:
        who, copied = f"{where}: {CLAIM}: worker {worker['pid']}", worker["prefetch_copies"]
        if not carried and copied is not None:
            raise MismatchError(
                f"{who} copies through our hook, and the lane's tree has none",
                hint="build the lane again; its tree on the disk is another one",
            )
        if carried and copied is None:
            raise MismatchError(
                f"{who} did not load the offloader that {PATCH} changes",
                hint="check that the lane's tree comes first on the path",
            )
        if carried and not copied["bytes"]:
            raise MismatchError(
                f"{where}: {CLAIM} is carried and proves nothing: worker {worker['pid']} copied no"
                f" tensor in a batch, {copied['captured']} while a graph was captured and"
                f" {copied['unlike']} of another layout one by one",
                hint=f"drop {PATCH}, or offload by prefetching: offload_backend and offload_group_size in"
                " [engine], on a GPU, without moe_hot_experts",
            )
    if not carried:
        return ()
    facts = {
        name: sum(worker["prefetch_copies"][name] for worker in evidence.status)
        for name in ("batches", "tensors", "bytes", "captured", "unlike")
    }
    text = (
        f"{facts['tensors']} tensors, {facts['bytes']} bytes, prefetched in {facts['batches']}"
        f" batches; one by one {facts['captured']} while captured, {facts['unlike']} of another layout"
    )
    return (Proof(CLAIM, on=True, facts=facts, text=text),)
