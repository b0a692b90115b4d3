"""What refuses two banks, and how it says so: ``bank_refusals.py SPEC``, a list of jobs.

A job has ``name``; ``model``; ``environ``, variables that the engine hears; ``engine`` (keyword arguments of ``vllm.LLM``), and ``more`` of them
that a lane may not have; ``result``. With
``plant`` (a name in ``PLANTS``), vLLM is altered before the engine comes up. With ``configs``, no
engine does: configurations are made and held against two banks, each with ``engine`` (more keyword
arguments), or with ``set`` where this machine's vLLM would not make it: places in it, and values.
With ``after``, the engine comes up, is asked for each of these things, and answers after each.
"""

import operator
import os
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import forks
import plants


def run(job: forks.Job) -> Any:  # noqa: ANN401 - JSON
    """What was said, None where nothing was refused; by case, where a job has several."""
    job["engine"] |= job.get("more", {})
    os.environ.update(job.get("environ", {}))
    if "configs" in job:
        return {name: of_config(job, **case) for name, case in job["configs"].items()}
    from vllm import LLM  # noqa: PLC0415 - imported by the parent already

    if plant := job.get("plant"):
        plants.PLANTS[plant]()
    if "after" in job:
        return afterwards(LLM(model=job["model"], **job["engine"]), job["after"])
    return told(lambda: LLM(model=job["model"], **job["engine"]))


def told(act: Callable[[], object]) -> str | None:
    """Do something; what was said against it."""
    try:
        act()
    except Exception as error:  # noqa: BLE001 - told to whoever asked
        return f"{type(error).__name__}: {error}"
    return None


def of_config(
    job: forks.Job,
    engine: dict[str, Any] | None = None,
    set: dict[str, Any] | None = None,  # noqa: A002
) -> str | None:
    """Load into two banks what a configuration is of; it must be refused before anything is loaded."""
    from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415 - the same

    from expert_bank.config import BankConfig  # noqa: PLC0415 - not before the lane's path
    from expert_bank.glue.banking import load_banked  # noqa: PLC0415 - imports vLLM

    config = EngineArgs(
        model=job["model"], **{**job["engine"], **(engine or {})}
    ).create_engine_config()
    for place, value in (set or {}).items():
        holder, _, name = place.rpartition(".")
        setattr(operator.attrgetter(holder)(config) if holder else config, name, value)
    asked = BankConfig.read(config.offload_config)
    return told(lambda: load_banked(SimpleNamespace(vllm_config=config), asked, lambda: None))


def afterwards(llm: Any, asked: list[list[Any]]) -> dict[str, Any]:  # noqa: ANN401 - vLLM's
    """Ask an engine for what it must refuse; what it said, and answered before and after each.

    Args:
        llm: The engine.
        asked: Name of a worker's method and its arguments each, or of the engine's own behind a
            dot (``.sleep``).
    """
    from vllm import SamplingParams  # noqa: PLC0415 - the same

    greedy = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)

    def answer() -> list[int]:
        (output,) = llm.generate("def barrier(rows):", greedy, use_tqdm=False)
        return list(output.outputs[0].token_ids)

    before, found = answer(), {}
    for method, *arguments in asked:
        if method.startswith("."):
            said = told(lambda: getattr(llm, method[1:])(*arguments))  # noqa: B023 - called at once
            llm.wake_up()
        else:
            said = told(lambda: llm.collective_rpc(method, args=tuple(arguments)))  # noqa: B023
        name = " ".join(map(str, (method, *arguments)))
        found[name] = {"told": said, "alike": answer() == before}
    (banks,) = llm.collective_rpc("expert_bank_banks")
    (held,) = llm.collective_rpc(readings_are_held)
    return {"found": found, "audit": banks["audit"], "tokens": len(before), "held": held}


def readings_are_held(worker: Any) -> bool:  # noqa: ANN401 - vLLM's
    """Tell whether a worker's counts are held against the tokens that were scheduled."""
    held: bool = worker.pick_counter.serves
    return held


if __name__ == "__main__":
    forks.run_all(run, *sys.argv[1:])
