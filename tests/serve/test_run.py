"""Runs that come to their end: what is recorded, and what is told of it."""

import hashlib
import itertools
import json
import os
import threading
from pathlib import Path

import pytest
from pyarrow import parquet

from lanewright.places import Places
from lanewright.queue.lock import encode
from lanewright.serve.equality.asked import Asked
from lanewright.serve.summary import summary
from lanewright.serve.wanted import Wanted
from lanewright.store.holder import holder_of
from lanewright.store.locking import held
from tests.serve.sample_run import LOCK, TREE, latest, run
from tests.serve.stand_in import lay_pin, lay_stand_in

BANKS = {"moe_hot_experts": "5"}
ASKED = Asked(prompts=20, tokens=24, together=(16,))


def test_a_run_is_recorded_and_told(places: Places, tmp_path: Path, model: Path) -> None:
    record = run(places, lay_stand_in(tmp_path), Wanted())
    assert latest(places) == json.loads(json.dumps(record))
    assert (record["verdict"], record["error"], record["agree"]) == ("passed", None, True)
    assert record["model"]["name"] == model.name
    assert record["equality"] is None
    shown = summary(record)
    assert "lane sample: passed" in shown
    assert "hook: 3 hunks in 2 files: 2 merged, 1 clean" in shown
    assert "bank: 1 file laid in" in shown
    assert "4 greedy completions, 64 tokens" in shown
    assert "the same tokens as offline: yes" in shown
    pid = record["boots"]["server"]["status"][0]["pid"]
    assert f"proof of moe_usage_counter, worker {pid}: 1122 picks = 187 scheduled" in shown
    assert shown.count("1122 picks = 187 scheduled tokens x 2 experts x 3 layers") == 2
    assert f"  usage    {record['folder']}/usage.parquet" in shown
    assert "equality" not in shown
    assert shown.endswith(f"{record['folder']}/record.json")
    assert Path(record["folder"], "record.json").is_file()


@pytest.mark.usefixtures("model")
def test_a_run_without_a_server(places: Places, tmp_path: Path) -> None:
    record = run(places, lay_stand_in(tmp_path))
    assert record["boots"]["server"] is None
    assert record["agree"] is None
    assert "  server" not in summary(record)


@pytest.mark.usefixtures("model")
def test_a_server_that_answers_otherwise_is_told_and_not_judged(
    places: Places, tmp_path: Path
) -> None:
    env = lay_stand_in(tmp_path, lies={"served": {"vocabulary": 100}})
    record = run(places, env, Wanted())
    assert (record["verdict"], record["agree"]) == ("passed", False)
    assert "the same tokens as offline: no (told, not judged)" in summary(record)


@pytest.mark.usefixtures("model")
def test_the_usage_map_holds_what_the_offline_boot_counted(places: Places, tmp_path: Path) -> None:
    record = run(places, lay_stand_in(tmp_path))
    assert record["usage"] == "usage.parquet"
    table = parquet.read_table(Path(record["folder"], "usage.parquet"))
    (usage,) = record["boots"]["offline"]["usage"]
    assert table.column("count").to_pylist() == [*itertools.chain(*usage["counts"])]
    assert table.schema.metadata[b"model"].decode() == record["model"]["hash"]


@pytest.mark.usefixtures("model")
def test_a_lane_that_counts_nothing_has_no_usage_map(places: Places, tmp_path: Path) -> None:
    record = run(places, lay_stand_in(tmp_path), engine={})
    assert record["usage"] is None
    assert not Path(record["folder"], "usage.parquet").exists()
    assert "  usage" not in summary(record)
    assert "off: every MoE layer's class is vLLM's own" in summary(record)


@pytest.mark.usefixtures("model")
def test_an_equality_that_holds_is_recorded_and_told(places: Places, tmp_path: Path) -> None:
    lay_pin(tmp_path / "pin")
    record = run(places, lay_stand_in(tmp_path), Wanted(server=False, modes=("eager",)))
    assert latest(places) == json.loads(json.dumps(record))
    assert (record["verdict"], record["equality"]["verdict"]) == ("passed", "equal")
    assert record["equality"]["baseline"] == TREE
    (on,) = record["equality"]["proofs"]["eager.on"]
    shown = summary(record)
    assert f"  equality equal: baseline is the unpatched pin's tree {TREE[:12]}, 64 tok" in shown
    assert "rows in model.layers.1.mlp.experts" in shown
    assert "           eager: equal; 511 distinct tokens" in shown
    assert "             on: 44/44 equal" in shown
    assert f"proof of moe_usage_counter in eager.on: {on['text']}" in shown
    assert Path(record["folder"], "equality", "lane.eager.on.json").is_file()


@pytest.mark.usefixtures("model")
def test_two_banks_that_hold_are_recorded_and_told(places: Places, tmp_path: Path) -> None:
    lay_pin(tmp_path / "pin")
    wanted = Wanted(modes=("eager",))
    record = run(places, lay_stand_in(tmp_path), wanted, engine=BANKS, asked=ASKED)
    assert latest(places) == json.loads(json.dumps(record))
    assert (record["verdict"], record["agree"]) == ("passed", True)
    proofs = record["equality"]["proofs"]
    assert [*proofs] == [f"eager.{arm}" for arm in ("off", "on", "swaps", "follows", "mapped")]
    (swaps,) = proofs["eager.swaps"]
    shown = summary(record)
    assert f"proof of moe_hot_experts in eager.swaps: {swaps['text']}" in shown
    assert " s; every expert's row is as it was loaded; RowTable own" in swaps["text"]
    assert shown.count("; no swap was asked for; every expert's row is as it was loaded") == 4
    for arm in ("on", "swaps", "follows", "mapped"):
        for how in ("", ", 16 at once"):
            assert f"             {arm}{how}: 20/20 equal\n" in shown
    assert Path(record["folder"], "usage.parquet").is_file()


@pytest.mark.usefixtures("model")
def test_the_lock_is_named_by_the_hash_of_its_file(places: Places, tmp_path: Path) -> None:
    file = tmp_path / "sample.lock"
    file.write_bytes(encode(LOCK))
    record = run(places, lay_stand_in(tmp_path))
    assert record["lock"] == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.usefixtures("model")
def test_two_runs_take_turns(
    places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = lay_stand_in(tmp_path)
    other = threading.Thread(target=run, args=(places, env, Wanted(server=False)))
    lock = places.store / "run.lock"
    with held(lock, "runs a lane", lane="first"):
        other.start()
        other.join(timeout=2)
        assert other.is_alive()
        assert not (places.state / "runs").exists()
    told = set()
    while other.is_alive():
        told.add(holder_of(lock).partition(", since ")[0])
        other.join(timeout=0.01)
    assert latest(places)["verdict"] == "passed"
    waited = "waiting for another lanewright that runs a lane: "
    assert f"{waited}first, process {os.getpid()}, since 20" in capsys.readouterr().err
    assert f"sample, process {os.getpid()}" in told
    assert sorted(path.name for path in places.store.glob("run.lock*")) == ["run.lock"]
