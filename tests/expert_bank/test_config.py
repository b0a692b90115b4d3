"""What a worker reads of the engine's configuration and of the run's environment."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from expert_bank.cold_folder import FOLDER, USUAL
from expert_bank.config import MOST_EAMS, NODE, POISON, READ_FLOOR, STATS, BankConfig
from expert_bank.host_memory import HostMemory
from expert_bank.numa import home, must_bind, nodes
from expert_bank.probe import Speed, require_speed
from expert_bank.refused import Refused

OFFLOAD = SimpleNamespace(moe_hot_experts="295", moe_cold_rows="exclusive", moe_boot_map="empty")


def test_without_the_patch_nothing_is_on() -> None:
    found = BankConfig.read(SimpleNamespace(), {})
    assert not found.on
    assert found == BankConfig("", "mirror", "first", poison=False, read_floor=None, node=None)


def test_fields_and_the_runs_environment_are_read() -> None:
    environ = {POISON: "1", READ_FLOOR: "280.5", NODE: "3", FOLDER: "/a disk"}
    found = BankConfig.read(OFFLOAD, environ)
    assert found.on
    assert found == BankConfig(
        *("295", "exclusive", "empty"),
        poison=True,
        read_floor=280.5,
        node=3,
        folder=Path("/a disk"),
    )


def test_a_staging_buffer_is_read_and_is_nothing_without_cold_rows() -> None:
    staged = SimpleNamespace(moe_hot_experts="295", moe_prefill_stage="2")
    assert BankConfig.read(staged, {}).prefill_stage == "2"
    with pytest.raises(Refused, match="moe_prefill_stage: no cold row can be staged while all"):
        BankConfig.read(SimpleNamespace(moe_prefill_stage="2"), {})


def test_how_many_requests_are_kept_is_bounded_and_nothing_without_a_map() -> None:
    asked = {"moe_hot_experts": "295", "moe_follow_eams": 120}
    assert BankConfig.read(SimpleNamespace(**asked), {}).follow_eams == 120
    with pytest.raises(Refused, match="moe_follow_eams: no map can follow anything while all"):
        BankConfig.read(SimpleNamespace(moe_follow_eams=120), {})
    for wrong in (-1, MOST_EAMS + 1):
        with pytest.raises(Refused, match=f"moe_follow_eams is {wrong}, and must be 0 to 10000"):
            BankConfig.read(SimpleNamespace(**asked | {"moe_follow_eams": wrong}), {})


@pytest.mark.parametrize("environ", [{}, {FOLDER: ""}])
def test_a_folder_that_nobody_names_is_the_usual_one(environ: dict[str, str]) -> None:
    assert BankConfig.read(OFFLOAD, environ).folder == USUAL


def test_the_stats_file_is_a_whole_path_or_none() -> None:
    assert BankConfig.read(OFFLOAD, {STATS: "/run/stats.json"}).stats == Path("/run/stats.json")
    assert BankConfig.read(OFFLOAD, {STATS: ""}).stats is None
    with pytest.raises(Refused, match=f"{STATS} is 'stats.json', and must be a whole path"):
        BankConfig.read(OFFLOAD, {STATS: "stats.json"})


@pytest.mark.parametrize("value", ["", "0"])
def test_what_is_zero_is_no_more_than_that(value: str) -> None:
    found = BankConfig.read(OFFLOAD, {READ_FLOOR: value, NODE: value, POISON: value})
    assert (found.read_floor, found.node) == ((0, 0) if value else (None, None))
    assert not found.poison


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((NODE, value) for value in ("-1", "x", "1.0", "0x1", " 1", "1\n", "12345", "\u0661")),
        *((READ_FLOOR, value) for value in ("fast", "-1", "inf", "nan")),
        *((POISON, value) for value in ("yes", "2")),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(Refused, match=f"{name} is "):
        BankConfig.read(OFFLOAD, {name: value})


def test_a_node_that_is_not_there_is_refused_by_number() -> None:
    with pytest.raises(Refused, match=f"cannot be on node 999: .*\n.*{NODE}"):
        HostMemory(wanted=999)
    with pytest.raises(Refused, match=r"cannot be on node 0: .* there is no node"):
        home((), wanted=0)


def test_a_node_that_is_there_is_taken() -> None:
    found = nodes()
    if not found:
        pytest.skip("the kernel of this machine knows no NUMA nodes")
    fit = [each.number for each in found if each.cpus and each.memory]
    assert [HostMemory(wanted=each).node for each in fit] == fit
    assert must_bind(found) == (len([each for each in found if each.memory]) > 1)


def test_hints_name_what_a_run_can_set() -> None:
    with pytest.raises(Refused) as refused:
        require_speed(Speed(2**30, (1.0,)), 280.0, node=1)
    assert NODE in str(refused.value)
    assert READ_FLOOR in str(refused.value)
    with pytest.raises(Refused, match=NODE):
        home((), cpus={0})
