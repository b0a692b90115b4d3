"""``lanewright residency record``: serve a lane, and keep which experts every token picked."""

import shutil
import tempfile
from pathlib import Path

from expert_bank.sizes import parse_size
from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.container.choosing import laid
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.record.requests import Request, of_file, of_texts, usual
from lanewright.residency.record.running import record
from lanewright.residency.trace_file.writing import write_trace
from lanewright.serve.served import served_model
from lanewright.store.locking import held
from lanewright.terminal import emit, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Write the trace; print what it is of."""
    target = _target(arguments.out)
    if parse_size(arguments.size) is None:
        raise LanewrightError(f"--size {arguments.size}: it is no size", hint="write it as in 4GiB")
    asked = of_file(arguments.requests) if arguments.requests else None
    lane, _ = laid(project, places, arguments)
    lane.model.require()
    with held(places.store / "run.lock", "runs a lane", lane=lane.lock.lane):
        model = served_model(places, lane.env, lane.model)
        requests = asked or _requests(model.folder, arguments)
        say(f"{len(requests)} requests, {arguments.at_once} at once ...")
        places.state.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="record-", dir=places.state))
        trace = record(
            lane,
            model,
            requests,
            folder,
            at_once=arguments.at_once,
            hidden=arguments.hidden,
            size=arguments.size,
        )
        write_trace(target, trace)
        shutil.rmtree(folder)
    emit(
        f"{trace.tokens} tokens of {len(requests)} requests, {trace.ids.size} picks, exact: {target}"
    )
    return ExitCode.CLEAN


def _target(out: Path | None) -> Path:
    target = (out or Path()).absolute()
    if not target.parent.is_dir() or target.is_dir():
        raise LanewrightError(f"--out {target}: no file can be there", hint="name another")
    return target


def _requests(model: Path, arguments: Arguments) -> list[Request]:
    if arguments.texts:
        return of_texts(model, arguments.texts, arguments.requests_of_each, arguments.seed)
    return usual(model)
