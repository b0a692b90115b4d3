"""Checks of an engine on a GPU that sleeps with two banks: ``sleep_cuda.py RESULT MODEL MODE``.

Needs vLLM for CUDA, with our hook patch or without it.
"""

import dataclasses
import os
import sys
from typing import Any

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
# ``collective_rpc`` takes functions then.
os.environ["VLLM_ALLOW_INSECURE_SERIALIZATION"] = "1"

from checks import bits, tell
from small_banks import raised
from vllm import LLM, SamplingParams
from vllm.config.offload import OffloadConfig

_, _, MODEL, MODE = sys.argv
BANKS = {"moe_hot_experts": "12", "moe_cold_rows": MODE}
PROMPTS = ["def barrier(rows):", "Once upon a time", "import torch", "The tide had gone out"]
LEVELS = (1, 2) if MODE == "mirror" else (1,)
FREED = 2**26


def engine() -> Any:  # noqa: ANN401 - vLLM's
    """Boot the lane's tiny model; graphs are captured, whose addresses must stay."""
    known = {each.name for each in dataclasses.fields(OffloadConfig)}
    for name, value in BANKS.items():
        if name not in known:
            # Without our patch nobody else reads it.
            setattr(OffloadConfig, name, value)
    return LLM(
        model=MODEL,
        enable_sleep_mode=True,
        worker_cls="expert_bank.glue.gpu_worker.Worker",
        worker_extension_cls="expert_bank.glue.extension.WorkerExtension",
        max_model_len=512,
        max_num_seqs=8,
        gpu_memory_utilization=0.3,
        enable_prefix_caching=False,
        moe_backend="triton",
        seed=1,
        **{name: value for name, value in BANKS.items() if name in known},
    )


LLM_OF_ALL = engine()


def answers() -> list[list[int]]:
    """Greedy tokens, one prompt at a time."""
    greedy = SamplingParams(temperature=0, max_tokens=32, ignore_eos=True)
    return [
        list(LLM_OF_ALL.generate([each], greedy, use_tqdm=False)[0].outputs[0].token_ids)
        for each in PROMPTS
    ]


def state(worker: Any) -> dict[str, Any]:  # noqa: ANN401 - vLLM's
    """What must be as before: addresses, tables, and every row that serves an expert."""
    two_bank = worker.two_bank
    table, banks = two_bank.table, two_bank.swapper.banks
    return {
        "addresses": [each.addresses() for each in banks],
        "tables": [(each.data_ptr(), bits(each)) for each in table.device],
        "host": table.host.tobytes(),
        "rows": [
            [bits(row) for row in bank.row(*table.where(layer, expert))]
            for layer, bank in enumerate(banks)
            for expert in range(bank.experts)
        ],
    }


def on_worker(act: Any, *arguments: object) -> Any:  # noqa: ANN401 - a name or a function
    """Ask the only worker."""
    (answer,) = LLM_OF_ALL.collective_rpc(act, args=arguments)
    return answer


def free() -> int:
    """Bytes of the device that are free."""
    import torch  # noqa: PLC0415 - vLLM has it by now

    return int(torch.cuda.mem_get_info()[0])


def swapped() -> None:
    """Swap before every forward for a while."""
    before = on_worker("expert_bank_banks")["swaps"]
    on_worker("expert_bank_force", 1, 2, 7)
    answers()
    on_worker("expert_bank_force", 0, 2, 7)
    assert on_worker("expert_bank_banks")["swaps"] > before


def require(before: dict[str, Any], expected: list[list[int]]) -> None:
    """All is as before, the audit included, and so are the answers."""
    assert on_worker(state) == before
    assert on_worker("expert_bank_banks")["audit"] == []
    assert answers() == expected


def either_level_leaves_all_as_it_was() -> None:
    """Behind swaps; the device's memory is let go meanwhile."""
    expected = answers()
    for level in LEVELS:
        swapped()
        before, had = on_worker(state), free()
        LLM_OF_ALL.sleep(level=level)
        assert free() > had + FREED
        assert "asleep" in raised(Exception, lambda: on_worker("expert_bank_banks"))
        LLM_OF_ALL.wake_up()
        require(before, expected)


def weights_and_cache_wake_in_either_order() -> None:
    """And the engine answers once both are there."""
    expected = answers()
    for level in LEVELS:
        for first, second in (("weights", "kv_cache"), ("kv_cache", "weights")):
            swapped()
            before = on_worker(state)
            LLM_OF_ALL.sleep(level=level)
            LLM_OF_ALL.wake_up(tags=[first])
            LLM_OF_ALL.wake_up(tags=[second])
            require(before, expected)


def level_2_of_exclusive_banks_is_refused() -> None:
    """With nothing lost; ``wake_up`` lets it answer again. A mirror's is taken, as above."""
    if MODE == "mirror":
        return
    expected, before = answers(), on_worker(state)
    assert "no other copy" in raised(Exception, lambda: LLM_OF_ALL.sleep(level=2))
    LLM_OF_ALL.wake_up()
    require(before, expected)


CHECKS = (
    either_level_leaves_all_as_it_was,
    weights_and_cache_wake_in_either_order,
    level_2_of_exclusive_banks_is_refused,
)


if __name__ == "__main__":
    tell(CHECKS)
