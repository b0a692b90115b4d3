"""Engines of one tree, one after another in forks of one process that imported vLLM."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lanewright.errors import MismatchError
from lanewright.guarded import ended
from lanewright.serve.child import Child, watch
from lanewright.serve.environment import LaneEnv
from lanewright.serve.named_files import root_of

SCRIPT = Path(__file__).parent / "inside" / "arms.py"


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One engine to boot and what to ask it.

    Attributes:
        name: For messages and file names.
        engine: Keyword arguments of ``vllm.LLM``.
        prompts: Asked one at a time, greedily.
        max_tokens: Length of every answer; a stop token is passed over.
        exact: Whether to keep the logprobs' bits.
        workers: Whether to ask the worker extension for status and usage.
        exchange: Whether to answer everything again with two experts' rows exchanged.
        calls: Methods of the worker extension to call before the prompts, with their arguments.
        together: How many prompts to ask at once, one run each, behind the first.
        keeps: File for the usage, as a boot map.
        continues: Whether the engine of the arm before is asked, as that left it, and none booted;
            where that arm is not run, one is booted all the same.
        maps: File that an arm before keeps; its most picked experts are made hot before the prompts.
    """

    name: str
    engine: Mapping[str, object]
    prompts: Sequence[str]
    max_tokens: int
    exact: bool = False
    workers: bool = False
    exchange: bool = False
    calls: Sequence[tuple[str, Sequence[object]]] = ()
    together: Sequence[int] = ()
    keeps: str | None = None
    continues: bool = False
    maps: str | None = None


def result_name(process: str, arm: Arm) -> str:
    """Name of the file for what an arm of a process found."""
    return f"{process}.{arm.name}.json"


def of_tree(env: LaneEnv, found: Mapping[str, Any]) -> bool:
    """Whether the vLLM that an arm ran is the tree's."""
    return env.holds(found["vllm_file"], found.get("vllm", ""))


@dataclass(frozen=True, kw_only=True)
class Running:
    """Engines of one tree that run.

    Attributes:
        child: Their process.
        env: Their tree.
        arms: In the order they run.
        results: Their files, in the same.
    """

    child: Child
    env: LaneEnv
    arms: Sequence[Arm]
    results: Sequence[Path]

    def wait(self) -> list[dict[str, Any]]:
        """Wait for the last arm; what every arm found.

        Raises:
            BootError: An engine died or hung; the message names the arm.
            MismatchError: What ran was not the tree.
        """
        return self.found(watch(self.child, seconds=self.env.patience))

    def found(self, status: int | None) -> list[dict[str, Any]]:
        """What every arm found, once the process has ended with this status.

        Raises:
            BootError: An engine died; the message names the arm.
            MismatchError: What ran was not the tree.
        """
        name, env = self.child.name, self.env
        if status:
            left = zip(self.arms, self.results, strict=True)
            failed = next((arm.name for arm, result in left if not result.exists()), "")
            where = f" in arm {failed}" if failed and len(self.arms) > 1 else ""
            raise self.child.died(f"{ended(status)}{where}")
        try:
            found = [json.loads(result.read_text()) for result in self.results]
        except (OSError, ValueError) as error:
            raise self.child.died(f"left no whole result: {error}") from error
        for each in found:
            if not of_tree(env, each):
                raise MismatchError(
                    f"{name} imported vLLM from {each['vllm_file']}, which is not in the tree"
                    f" {env.site}; it calls itself {each['vllm']}",
                    hint=f"look for a .pth file or a second vLLM in {env.base}, which it stands on",
                )
        return found


@contextmanager
def starting(
    env: LaneEnv,
    model: Path,
    arms: Sequence[Arm],
    folder: Path,
    *,
    name: str,
    environ: Mapping[str, str] | None = None,
    notes: Mapping[str, Mapping[str, str]] | None = None,
    cores: Sequence[int] | None = None,
) -> Iterator[Running]:
    """Boot every arm in turn while the block runs.

    Args:
        env: The tree that all arms share.
        model: Folder of the model.
        arms: In the order they run.
        folder: Where ``<name>.log``, the spec and the results go.
        name: Of the process, for messages and file names.
        environ: Variables beside the lane's own.
        notes: What an arm notes once it has finished, by its name: ``file``, ``key`` and ``run``.
        cores: Which of the cores that the process may use it keeps to, counted from 0; None for all.
    """
    results = [folder / result_name(name, arm) for arm in arms]
    # As a container has it, which is given no link on the way there.
    model = model.resolve()
    spec = [
        {
            **asdict(arm),
            "model": str(model),
            "result": str(result),
            "note": (notes or {}).get(arm.name),
        }
        for arm, result in zip(arms, results, strict=True)
    ]
    spec_file = folder / f"{name}.spec.json"
    spec_file.write_text(json.dumps({"cores": cores, "arms": spec}, indent=1) + "\n")
    words = [str(SCRIPT), str(spec_file)]
    # In one process: an engine core of its own would import vLLM again.
    whole = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", **(environ or {})}
    log, reads = folder / f"{name}.log", [root_of(model), *_maps(arms, folder)]
    with env.running(name, words, environ=whole, log=log, reads=reads) as child:
        yield Running(child=child, env=env, arms=arms, results=results)


def _maps(arms: Sequence[Arm], folder: Path) -> Iterator[Path]:
    """Yield the boot maps that are read from elsewhere than the run's folder."""
    for arm in arms:
        named = Path(str(arm.engine.get("moe_boot_map") or ""))
        if named.is_absolute() and not named.is_relative_to(folder):
            yield named
