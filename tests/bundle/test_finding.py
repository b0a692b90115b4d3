"""A run, a night, or a lane for its newest run; what is not there is told with what to type."""

from pathlib import Path

import pytest

from lanewright.bundle.finding import found
from lanewright.errors import LanewrightError
from lanewright.places import Places
from tests.history.made import at, lay_night, lay_run

RUN = "20261101T020000Z-01234567"


def test_each_way_to_name_a_run(places: Places) -> None:
    folder = lay_run(places, at(1))
    for word in (RUN, f"sample/{RUN}", "sample", str(folder), f"{folder}/"):
        one = found(places, word)
        assert (one.folder, one.lane) == (folder, "sample"), word


def test_a_lane_is_its_newest_run(places: Places) -> None:
    lay_run(places, at(1))
    lay_run(places, at(2))
    for _ in range(10):
        newest = lay_run(places, at(3))
    assert newest.name == "20261103T020000Z-01234567-10"
    (places.state / "runs/sample/.making-x-1-a").mkdir()
    assert found(places, "sample").folder == newest


def test_a_run_without_a_record_is_one(places: Places) -> None:
    lay_run(places, at(1))
    folder = places.state / "runs/sample/20261105T020000Z-01234567"
    folder.mkdir()
    assert found(places, "sample").folder == folder
    assert found(places, str(folder)).lane == "sample"


def test_a_night(places: Places) -> None:
    folder = lay_night(places, at(1), [])
    for word in (folder.name, str(folder)):
        one = found(places, word)
        assert (one.folder, one.lane) == (folder, None)


def test_a_run_of_two_lanes_is_asked_for_again(places: Places) -> None:
    lay_run(places, at(1))
    lay_run(places, at(1), lane="other")
    with pytest.raises(LanewrightError, match=f"a run of several lanes: other/{RUN} and") as error:
        found(places, RUN)
    assert error.value.hint == f"lanewright bundle other/{RUN}"


@pytest.mark.parametrize(
    ("word", "told", "hint"),
    [
        ("nowhere", "lane nowhere has no run in", "lanewright boot nowhere"),
        ("20260101T000000Z", "there is no run, lane or night", "lanewright history --runs"),
        ("/nowhere/at/all", "is no folder of a run or a night", "lanewright history --runs"),
        ("..", "holds neither a run nor a night", "lanewright history --runs"),
        ("a\x1bb", "there is no run, lane or night $'a\\x1bb'", "lanewright history --runs"),
    ],
)
def test_what_is_not_there(places: Places, word: str, told: str, hint: str) -> None:
    with pytest.raises(LanewrightError) as error:
        found(places, word)
    assert told in str(error.value)
    assert hint in str(error.value.hint)
    assert error.value.exit_code == 1


def test_a_link_in_the_state_folder_is_none(places: Places, tmp_path: Path) -> None:
    folder = lay_run(Places(places.store, tmp_path / "elsewhere"), at(1))
    (places.state / "runs/sample").mkdir(parents=True)
    (places.state / "runs/sample" / RUN).symlink_to(folder)
    with pytest.raises(LanewrightError, match="a link leads to") as error:
        found(places, RUN)
    assert error.value.hint == f"name the folder itself: lanewright bundle {folder}"
