"""What vLLM's ``/metrics`` has of ours: ``several_servers.py RESULT``; needs no model."""

import os
import re
from pathlib import Path
from tempfile import mkdtemp

from checks import tell
from fastapi import FastAPI
from fastapi.testclient import TestClient
from small_banks import small

from expert_bank.config import SERVER
from expert_bank.glue import plugin
from expert_bank.metrics import AGE, METRICS
from expert_bank.staging_metrics import STAGING
from expert_bank.stats import snapshot
from expert_bank.stats_file import write_stats

FOLDER = Path(mkdtemp())
SEVERAL = "PROMETHEUS_MULTIPROC_DIR"
SAMPLE = re.compile(r"^(expert_bank_\w+)(?:\{.*\})? (\S+)$", re.MULTILINE)


def shown() -> dict[str, float]:
    """Our samples at the ``/metrics`` that vLLM gives a server, by name; the last of each."""
    # As vLLM does: once the plugins are loaded.
    from vllm.entrypoints.serve.instrumentator.metrics import attach_router  # noqa: PLC0415

    app = FastAPI()
    attach_router(app)
    text = TestClient(app).get("/metrics").text
    return {each[1]: float(each[2]) for each in SAMPLE.finditer(text)}


def written() -> None:
    """Have a stats file of this server, with 7 forwards."""
    banks = small([4, 4], "mirror").two_bank
    banks.barrier.totals.forwards = 7
    write_stats(Path(os.environ["EXPERT_BANK_STATS"]), snapshot(banks, "m"))


def require_all(found: dict[str, float]) -> None:
    """Every metric that a map which stands still has."""
    others = {"expert_bank_trusted", "expert_bank_cold_share", *(each.name for each in STAGING)}
    assert found.keys() == {AGE, *(each.name for each in METRICS)} - others, found
    assert found["expert_bank_forwards_total"] == 7


def one_server_shows_ours() -> None:
    """From the process's own registry."""
    written()
    require_all(shown())


def one_of_several_servers_shows_ours() -> None:
    """From a folder that all of them write into, told to do so after the plugins were loaded."""
    os.environ[SEVERAL] = mkdtemp()
    try:
        require_all(shown())
    finally:
        del os.environ[SEVERAL]


def no_server_shows_anothers() -> None:
    """The file of another start."""
    os.environ[SERVER] = "another"
    assert shown() == {AGE: float("inf")}


CHECKS = (
    one_server_shows_ours,
    one_of_several_servers_shows_ours,
    no_server_shows_anothers,
)

if __name__ == "__main__":
    os.environ["EXPERT_BANK_STATS"] = str(FOLDER / "stats.json")
    plugin.register()
    tell(CHECKS)
