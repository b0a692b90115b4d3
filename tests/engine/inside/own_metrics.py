"""Checks of ``/metrics`` where several servers tell how their maps do: ``own_metrics.py RESULT``.

A server is a process here that joins its registry as vLLM's plugin hook does, and writes as its worker
would; vLLM's own parts of it are left out.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from checks import tell
from prometheus_client import REGISTRY, generate_latest
from small_banks import small

from expert_bank.config import STATS, stats_place
from expert_bank.glue import metrics
from expert_bank.stats import snapshot
from expert_bank.stats_file import write_stats

# Forwards that each of them has made.
SERVERS = (3, 5)
FORWARDS = "expert_bank_forwards_total{"
FORKED = get_context("fork")
SECONDS = 60.0


def server(place: str, forwards: int, asked: Connection) -> None:
    """Be one server: write, say so, and tell what /metrics says of the forwards once asked."""
    os.environ[STATS] = place
    metrics.join()
    file = stats_place()
    assert file is not None
    banks = small([4], "mirror", experts=8, first=[[0, 1, 2, 3]])
    write_stats(file, {**snapshot(banks.two_bank, "m"), "forwards": forwards})
    asked.send("written")
    asked.recv()
    lines = generate_latest(REGISTRY).decode().splitlines()
    asked.send([float(each.rsplit(maxsplit=1)[1]) for each in lines if each.startswith(FORWARDS)])


def servers(place: str) -> list[list[float]]:
    """Start the servers one after the other, all with this in ``EXPERT_BANK_STATS``; ask them all."""
    with ExitStack() as stack:
        asking = []
        for forwards in SERVERS:
            ours, theirs = FORKED.Pipe()
            process = FORKED.Process(target=server, args=(place, forwards, theirs))
            process.start()
            stack.callback(process.join)
            stack.callback(process.terminate)
            assert ours.poll(SECONDS)
            assert ours.recv() == "written"
            asking.append(ours)
        for each in asking:
            each.send("metrics")
        assert all(each.poll(SECONDS) for each in asking)
        return [each.recv() for each in asking]


def in_a_folder_each_server_shows_its_own() -> None:
    """Whichever wrote last."""
    with TemporaryDirectory() as folder:
        assert servers(folder) == [[each] for each in SERVERS]
        assert len([*Path(folder).iterdir()]) == len(SERVERS)


def of_one_file_no_server_shows_anothers() -> None:
    """Only the one that wrote last shows anything."""
    with TemporaryDirectory() as folder:
        assert servers(f"{folder}/stats.json") == [[], [SERVERS[-1]]]


CHECKS: tuple[Callable[[], None], ...] = (
    in_a_folder_each_server_shows_its_own,
    of_one_file_no_server_shows_anothers,
)


if __name__ == "__main__":
    tell(CHECKS)
