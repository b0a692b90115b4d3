"""A site with a stand-in for vLLM and our overlay: real processes and a real server, no engine.

The overlay's own stand-in answers its workers' questions as the real one does, without torch. Both
are honest unless told to lie, the whole site by ``lies``, one engine by its argument of that name:

=============== ==================================================================================
dies, killed    an engine ends the process, by itself or by signal N
mapless         an engine that is given a boot map's file ends the process
late            vLLM ends its process with this status, once all is done
hangs           an engine never comes up
refuses         the server answers this path with an error
silent, faints  the server gives no token ids; is no longer healthy after N answers
served          lies of the server alone
counter         whether the counter is on, whatever was asked
foreign         the worker class is vLLM's own, whatever was asked
replaced, op    our class is built; an op of ours is registered, whatever was asked
times           every count is multiplied
more_picks      added to the first count
more_tokens     added to the scheduled tokens
uncounted       prompt N is not counted
vocabulary      how many tokens there are
deaf            the model does not look at rows that are exchanged
short           [N, T]: the answer to prompt N has T tokens
caches          prefixes are cached, whatever was asked
uncompiled      the model is never compiled, whatever was asked
unsteady        the first N answers are other ones in every process
nan             [N, I]: the logprob of prompt N at index I is no number
flip            ``place`` [N, I] is other; ``what``: its token or logprob; ``only_on``: with a feature
hot             how many experts the configuration has hot, whatever was asked
banked          so many are hot in two banks, whatever was asked
resident        there are no two banks, whatever was asked
wrong           [L, E]: that layer's row of that expert is not what was loaded
torn            swaps move only one of two tensors in layer L
blind           no row is ever found wrong
more_hot        added to the picks that the hot bank served
never_cold      what the cold bank served is told as the hot one's
failing         the first N swaps fail
unmoved         swaps are told to have moved nothing
swapless        forced swaps are not made
idle            a map that follows never swaps
more_shown      added to each layer's hot picks on /metrics
lacks           the metric of that name is not on /metrics
late_forwards   taken from the forwards on /metrics
unscraped       /metrics answers with an error
tunes           tactics that every engine tunes where its file lacks them; two more with a feature
retunes         an engine with a feature tunes all of them anew, whatever its file has
graphs          so many graphs are captured where the model is compiled
recaptures      with a feature they are captured again before the answer to prompt N
=============== ==================================================================================
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import expert_bank
from lanewright.serve.boot import EXTENSION
from lanewright.serve.child import child, watch
from lanewright.serve.client import healthy
from lanewright.serve.environment import LaneEnv
from lanewright.serve.port import HOST, usable_port
from lanewright.serve.server import MODULE
from tests.upstream.compiled import compiled

SITE = Path(__file__).with_name("site")
OVERLAY = Path(__file__).with_name("overlay")
METRICS = ("metric.py", "metrics.py", "staging_metrics.py")
FIELDS = """\
    moe_usage_counter: bool = False
    moe_hot_experts: str = ""
    moe_cold_rows: str = "mirror"
    moe_boot_map: str = "first"
"""
HOOK = ("    lies:", f"{FIELDS}    lies:")


def lay_stand_in(
    folder: Path,
    *,
    bank: bool = True,
    plugin: bool = True,
    hook: bool = True,
    lies: Mapping[str, Any] | None = None,
) -> LaneEnv:
    """Lay the site; this Python runs it, without the packages that are installed here.

    Args:
        folder: Where the site and its caches go.
        bank: Whether the tree holds our overlay.
        plugin: Whether vLLM can find the overlay's entry point.
        hook: Whether vLLM knows the engine arguments that our hook patches add.
        lies: Of every engine of this site.
    """
    site = folder / "site"
    for part in (SITE, OVERLAY) if bank else (SITE,):
        ignored = shutil.ignore_patterns("__pycache__", *([] if plugin else ["*.dist-info"]))
        shutil.copytree(part, site, ignore=ignored, dirs_exist_ok=True)
    if bank:
        # What a server shows is by our own names; numbers are the stand-in's.
        for name in METRICS:
            shutil.copy(Path(expert_bank.__file__).with_name(name), site / "expert_bank")
    if hook:
        arguments = site / "vllm" / "arguments.py"
        arguments.write_text(arguments.read_text().replace(*HOOK))
    if lies:
        (site / "lies.json").write_text(json.dumps(lies))
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\nexport PYTHONPYCACHEPREFIX={compiled()}\nexec {sys.executable} -S "$@"\n'
    )
    python.chmod(0o755)
    return LaneEnv(python, site, folder / "pyc")


def lay_pin(folder: Path, **lies: Any) -> LaneEnv:  # noqa: ANN401 - JSON
    """Lay the unpatched pin beside a lane's site: no hook, no overlay."""
    folder.mkdir()
    return lay_stand_in(folder, bank=False, hook=False, lies=lies)


@contextmanager
def running(env: LaneEnv, folder: Path, name: str, *options: str) -> Iterator[int]:
    """Have a stand-in server answer on a port while the block runs; it serves ``name``."""
    port = usable_port(None)
    command = [str(env.python), "-m", MODULE, f"--served-model-name={name}", f"--host={HOST}"]
    command += [f"--port={port}", f"--worker-extension-cls={EXTENSION}", *options]
    environ = {**env.environ(), "VLLM_SERVER_DEV_MODE": "1"}
    with child("server", command, environ=environ, log=folder / "running.log") as process:
        watch(process, seconds=30, ready=lambda: healthy(port))
        yield port
