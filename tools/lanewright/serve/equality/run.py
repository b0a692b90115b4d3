"""Boots the arms of a lane's equality, mode by mode, and judges them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lanewright.errors import MismatchError
from lanewright.project import Device
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.answers import ENVIRON, answers_of
from lanewright.serve.equality.arms import FOLLOWED, LaneArm, lane_arms, pin_arms
from lanewright.serve.equality.asked import DEFAULT, Asked, Mode
from lanewright.serve.equality.budget import Budget
from lanewright.serve.equality.compare import Answer, Role, Row, compare
from lanewright.serve.equality.earlier import Arms, Resumed, Resuming
from lanewright.serve.equality.graphs import with_graphs
from lanewright.serve.equality.key import Side
from lanewright.serve.equality.prompts import prompts_for
from lanewright.serve.equality.sharing import shares
from lanewright.serve.equality.tactics import files, other_tactics
from lanewright.serve.equality.told import unproven
from lanewright.serve.equality.verdict import CONTROL, Judged, Verdict, judge, worst
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import BANKS
from lanewright.serve.proof import prove


@dataclass(frozen=True)
class Equality:
    """Whether a lane answers as its baseline does.

    Attributes:
        verdict: The worst of the modes'.
        baseline: Tree id of the unpatched pin.
        tokens: Length of each answer.
        fewer: Where less was asked than of other lanes.
        exchanged: Layer whose first and last expert the negative control exchanges.
        modes: One per mode of the engine.
        proofs: Per arm (``eager.on``), what is proven of each feature there.
        plain: Engine arguments that the baseline needs of its own.
        resumed: Per arm that was not booted again, the run that its answers are from.
        cores: How many each engine kept to, pin and lane at once; None for all, one after another.
        engines: Per arm what its engine started and ended with: files of tactics, graphs, memory.
    """

    verdict: Verdict
    baseline: str
    tokens: int
    fewer: tuple[str, ...]
    exchanged: str
    modes: tuple[Judged, ...]
    proofs: Mapping[str, tuple[Proof, ...]]
    resumed: Mapping[str, Resumed]
    plain: Mapping[str, object]
    cores: int | None
    engines: Mapping[str, Mapping[str, Any]]


def equality(
    pin: LaneEnv,
    lane: LaneEnv,
    *,
    baseline: str,
    model: Path,
    engine: Mapping[str, object],
    folder: Path,
    device: Device,
    modes: Sequence[Mode],
    resuming: Resuming,
    after_record: ExitStack,
    asked: Asked = DEFAULT,
    boots: int | None = None,
) -> Equality:
    """Answer every prompt with the unpatched pin and with the lane, and compare.

    Per mode: the pin twice (the second is the self control, and answers once more with two
    experts' rows exchanged: the negative control), the lane with its features off, and on; where
    its experts are in two banks also with swaps all along, with a map that follows traffic, and with
    another map to start from. Pin and lane run at once, each on half of the cores, where that can be.
    Each arm that has finished is noted; one that an interrupted run noted is not booted again, if
    that is asked for and nothing that determines its answers has changed since.

    Args:
        pin: The unpatched tree.
        lane: The patched tree.
        baseline: Tree id of the pin.
        model: Folder of the model.
        engine: The lane's engine arguments; eager or compiled is said by the mode.
        folder: Where logs, specs and every answer go.
        device: What the lane runs on.
        modes: Which to compare.
        resuming: What becomes of arms that an interrupted run has finished.
        after_record: Is closed once what came of this is on disk; its arms are kept until then, and
            whenever it gives neither a verdict nor a proof that fails.
        asked: How much to ask.
        boots: How many engines may be booted, 2 at least; None for one an arm.

    Raises:
        BootError: An engine died or hung; without a baseline nothing is compared.
        MismatchError: A feature has no effect where it is on, or one where it is off; the message
            tells where the answers diverge, too.
    """
    folder.mkdir()
    asked = replace(asked, texts=prompts_for(model))
    budget = Budget.of(boots, modes, engine)
    arms = lane_arms(budget, engine, lane, device, asked, folder)
    cores = shares(device, model) or (None, None)
    of_pin = Side(
        name="pin",
        env=pin,
        tree=baseline,
        arms=pin_arms(budget, engine, asked),
        cores=cores[0],
    )
    of_lane = Side(
        name="lane",
        env=lane,
        tree=resuming.tree,
        arms=[each.arm for each in arms],
        cores=cores[1],
    )
    finished = Arms.of(resuming, folder, (of_pin, of_lane), ENVIRON)
    with finished.kept():
        resumed = finished.take()
        theirs, ours = answers_of(of_pin, of_lane, model, finished, resumed)
        judged = tuple(_judge(mode, theirs, ours, asked) for mode in budget.modes)
    found = Equality(
        verdict=worst(each.verdict for each in judged),
        baseline=baseline,
        tokens=asked.tokens,
        fewer=(*asked.fewer(), *budget.fewer(modes, engine)),
        exchanged=theirs[f"{budget.modes[0]}.self"]["exchange"]["layer"],
        modes=judged,
        proofs={},
        resumed=resumed,
        plain=dict(asked.baseline),
        cores=None if cores[0] is None else len(cores[0]),
        engines={name: _engine(found) for name, found in {**theirs, **ours}.items()},
    )
    for each in arms:
        try:
            proof = {each.arm.name: proven(lane, each, ours[each.arm.name])}
        except MismatchError as error:
            after_record.callback(finished.forget)
            raise unproven(error, asdict(found)) from error
        found = replace(found, proofs={**found.proofs, **proof})
    after_record.callback(finished.forget)
    return found


def proven(lane: LaneEnv, of: LaneArm, found: Mapping[str, Any]) -> tuple[Proof, ...]:
    """Prove what an arm of the lane is there for.

    Raises:
        MismatchError: It is not.
    """
    where = f"equality, {of.arm.name}"
    proofs = prove(lane, of.engine, Evidence.read(found), where)
    if of.swaps and any(
        each.facts.get("mixed_layers") and not each.facts["swapped"] for each in proofs
    ):
        raise MismatchError(f"{where}: swaps were asked for, and none was made")
    if FOLLOWED in of.arm.calls and not all(
        each.facts["decisions"] for each in proofs if each.feature == BANKS
    ):
        raise MismatchError(f"{where}: the map was to follow traffic, and did not")
    return with_graphs(proofs, found, where)


def _judge(
    mode: Mode,
    theirs: Mapping[str, Mapping[str, Any]],
    ours: Mapping[str, Mapping[str, Any]],
    asked: Asked,
) -> Judged:
    """Compare every arm of a mode with its baseline."""
    expected, control = theirs[f"{mode}.baseline"], theirs[f"{mode}.self"]
    baseline = _read(expected["completions"])
    exchanged = _read(control["exchange"]["completions"])
    arms = {
        name.removeprefix(f"{mode}."): found
        for name, found in ours.items()
        if name.startswith(f"{mode}.")
    }
    apart = {
        name: said
        for name, found in {CONTROL: control, **arms}.items()
        if (said := other_tactics(expected, found))
    }
    rows: list[Row] = []
    if CONTROL not in apart:
        rows += _rows(CONTROL, "control", expected, control)
        rows.append(compare("exchanged", "negative control", baseline, exchanged))
    for name, found in arms.items():
        if name not in apart:
            rows += _rows(name, "arm", expected, found)
    ran = {n: found for n, found in {**theirs, **ours}.items() if n.startswith(f"{mode}.")}
    spoilt = [each for name, found in ran.items() for each in _spoilt(name, found, mode)]
    return judge(mode, baseline, rows, spoilt=spoilt, asked=asked, apart=apart)


def _engine(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is recorded of an arm's engine."""
    return {
        "tactics": files(found),
        "graphs": found.get("graphs"),
        "memory": found.get("memory"),
    }


def _spoilt(name: str, found: Mapping[str, Any], mode: Mode) -> Iterator[str]:
    """Yield how an arm ran otherwise than it must, whatever it was asked."""
    if found["compiled"] != (mode == "compiled"):
        yield f"{name} did not run {mode}"
    passes = [found["completions"], *found["together"].values()]
    if cached := sum(each["cached_tokens"] for each_pass in passes for each in each_pass):
        yield f"{name} took {cached} tokens from a cache"


def _rows(
    name: str, role: Role, expected: Mapping[str, Any], found: Mapping[str, Any]
) -> Iterator[Row]:
    """Compare one at a time, then each number at once with the baseline's same number."""
    yield compare(name, role, _read(expected["completions"]), _read(found["completions"]))
    for count, theirs in expected["together"].items():
        ours = found["together"][count]
        yield compare(f"{name}, {count} at once", role, _read(theirs), _read(ours))


def _read(completions: Sequence[Mapping[str, Any]]) -> list[Answer]:
    return [Answer.read(each) for each in completions]
