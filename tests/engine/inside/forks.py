"""Jobs, each in a fork of one process that imported vLLM: nothing of one reaches the next.

Run with the lane's Python, with this folder on its path.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Job = dict[str, Any]


def run_all(run: Callable[[Job], Any], spec_file: str) -> None:
    """Run every job of a spec; what a job gives back is written to the file ``result`` names.

    Ends with status 1 after the first job that fails.
    """
    import amx  # noqa: PLC0415 - the tool's own; not every script of this folder forks
    import shims  # noqa: PLC0415 - the same

    amx.ask_for_tiles()
    shims.apply()
    # vllm itself is little: what an engine is made of comes with the first name taken from it, but for
    # the worker, which is found by its name.
    from vllm import LLM, SamplingParams  # noqa: F401, PLC0415 - once, before the forks
    from vllm.v1.worker import cpu_worker  # noqa: F401, PLC0415 - the same

    for job in json.loads(Path(spec_file).read_text()):
        tell(job["name"], "starts")
        if _forked(job, run):
            tell(job["name"], "failed")
            sys.exit(1)


def tell(name: str, what: str) -> None:
    """Say how far a job is, in the form that the tool's watch passes on."""
    sys.stdout.write(f"arm {name}: {what}\n")
    sys.stdout.flush()


def _forked(job: Job, run: Callable[[Job], Any]) -> bool:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            Path(job["result"]).write_text(json.dumps(run(job)))
            status = 0
        except BaseException:  # noqa: BLE001 - a fork must not run its parent's code
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            # vLLM leaves threads behind that would keep an ordinary exit waiting.
            os._exit(status)
    return os.waitpid(child, 0)[1] != 0
