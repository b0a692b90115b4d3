"""Machine files."""

import re
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.residency.cost.estimate import Asked, estimate
from lanewright.residency.cost.machine_file import load_machine
from lanewright.residency.cost.told import lines
from tests.residency.cost.lane import MACHINE, lane_model

BARE = '[machine]\ndevice = "80GiB"\nhost = "494GiB"\n'
ANCHORS = (
    '[steps]\n1 = 14.6\n[anchors]\nbefore = 0.24\nafter = 0.027\ntokens_most = 6\nsource = "x"\n'
    "[anchors.speeds]\n1 = [88.7, 153.2]\n"
)


def write(folder: Path, text: str) -> Path:
    file = folder / "machine.toml"
    file.write_text(text)
    return file


def test_the_first_users() -> None:
    found = load_machine(MACHINE)
    assert (found.machine.device, found.machine.host, found.machine.link) == (
        "250.7GiB",
        "494GiB",
        340,
    )
    assert list(found.machine.nvme or ()) == [10, 12]
    assert list(found.step_seconds) == [1]
    assert found.step_seconds[1] == pytest.approx(0.0146)
    assert found.anchors is not None
    assert found.anchors.speeds == {1: (88.7, 153.2), 8: (305, 704), 16: (385, 953)}


def test_what_is_not_said_is_told_with_its_key(tmp_path: Path) -> None:
    machine = load_machine(write(tmp_path, f"{BARE}link = 340"))
    found = estimate(lane_model(), machine, Asked({"a": 0.1}), "x")
    text = "\n".join(lines(found))
    for key in ("hbm", "nvme", "kv_tokens", "l2"):
        assert f"is not said: say [machine] {key}" in text
    assert "say [steps] 1 in a machine file" in text
    assert "of 1.00 tokens a user (for nothing says more: give --tokens)" in text
    assert [found.disk, found.cache, found.fit] == [None, None, None]
    with_tokens = load_machine(write(tmp_path, f"{BARE}link = 340\nkv_tokens = 1000"))
    found = estimate(lane_model(), with_tokens, Asked({"a": 0.1}), "x")
    assert "say [machine] kv_pool" in "\n".join(lines(found))


def test_without_a_link_nothing_is_known(tmp_path: Path) -> None:
    machine = load_machine(write(tmp_path, BARE))
    with pytest.raises(LanewrightError, match=r"here: \[machine\] has no link") as error:
        estimate(lane_model(), machine, Asked({"a": 0.1}), "here")
    assert "link = 340.0" in (error.value.hint or "")


def test_more_experts_than_there_is_room_for(tmp_path: Path) -> None:
    small = BARE.replace("494", "30") + "link = 340\nnvme = [10, 12]\n"
    found = estimate(lane_model(), load_machine(write(tmp_path, small)), Asked({"a": 0.1}), "x")
    assert found.disk is not None
    assert found.disk.needed
    assert "a tier for capacity: 268.80 GiB of experts are more than the 236.50 GiB" in "\n".join(
        lines(found)
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[machine]", "missing required field `device`"),
        (BARE.replace("80GiB", "80GB"), "[machine] device is '80GB', which is no size above 0"),
        (f"{BARE}link = 0", "Expected `float` > 0.0 - at `$.machine.link`"),
        (f"{BARE}hbm = inf", "[machine] hbm is inf"),
        (f"{BARE}nvme = 12.0", "`$.machine.nvme`"),
        (f"{BARE}nvme = [10.0]", "`$.machine.nvme`"),
        (f"{BARE}nvme = [12.0, 10.0]", "[machine] nvme is [12, 10], the larger one first"),
        (f"{BARE}nvme = [nan, 10.0]", "`$.machine.nvme[0]`"),
        (f'{BARE}l2 = "126MB"', "[machine] l2 is '126MB', which is no size above 0"),
        (f"{BARE}speed = 1", "unknown field `speed` - at `$.machine`"),
        (f"{BARE}[steps]\none = 1", "`$.steps`"),
        (f"{BARE}[steps]\n0 = 1", "`$.steps`"),
        (f"{BARE}[steps]\n1 = 0", "`$.steps[...]`"),
        (f"{BARE}[cold_shares]\na = 1.5", "`$.cold_shares[...]`"),
        (BARE + ANCHORS.replace("0.027", "0.3"), "[anchors] after is 0.3, and must be below before, 0.24"),
        (BARE + ANCHORS.replace("[88.7, 153.2]", "[153.2, 88.7]"), "[anchors.speeds] 1 is [153.2, 88.7]"),
        (BARE + ANCHORS.replace("[steps]\n1", "[steps]\n2"), "[steps] has no 1"),
        (BARE + ANCHORS.replace("\n1 = [", "\n2 = ["), "[anchors.speeds] has no 1"),
        (BARE + ANCHORS.replace("tokens_most = 6", "tokens_most = 0"), "`$.anchors.tokens_most`"),
        (BARE + ANCHORS.replace('source = "x"', ""), "missing required field `source`"),
        (f"{BARE}[[counter]]\ntokens = 6", "`$.counter[0]`"),
        ("[machine", "no valid TOML"),
    ],
)  # fmt: skip
def test_a_file_that_says_what_cannot_be_is_refused(tmp_path: Path, text: str, told: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(LanewrightError, match=re.escape(told)) as error:
        load_machine(file)
    assert str(file) in str(error.value)


def test_keys_are_looked_for_in_the_documents(tmp_path: Path) -> None:
    with pytest.raises(LanewrightError) as error:
        load_machine(write(tmp_path, f"{BARE}speed = 1"))
    place = "docs/residency.md lists the keys under “A machine file”"
    assert error.value.hint == place
    assert "\n## A machine file\n" in (MACHINE.parents[1] / "docs" / "residency.md").read_text()
