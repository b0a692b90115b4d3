"""What engines in containers compile and tune: where it is, whose it is, and who may read it."""

import os
import stat
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.serve.caches import OWN, SHARED, Caches, caches_of, kind_of_machine
from lanewright.store.objects import TreeId

BASE, OTHER_BASE = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"
PIN, LANE = TreeId("a" * 40), TreeId("b" * 40)


def made(places: Places, lane: str = "sample", base: str = BASE, tree: TreeId = PIN) -> Caches:
    return caches_of(places, lane, base=base, tree=tree)


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_every_variable_has_a_folder_of_its_own_that_is_there(places: Places) -> None:
    caches = made(places)
    named = caches.environ()
    assert {*named} == {*SHARED, *OWN}
    assert len({*named.values()}) == len(named) == len(caches.folders)
    assert all(folder.is_dir() for folder in caches.folders)
    stands = places.state / f"caches/sample/{'1' * 12}-{kind_of_machine()[:12]}"
    assert (caches.shared, caches.own) == (stands / "shared", stands / ("a" * 12))
    assert str(caches.tactics) == named["VLLM_FLASHINFER_AUTOTUNE_CACHE_DIR"]


def test_trees_share_what_hangs_on_the_base_alone(places: Places) -> None:
    pin, lane = made(places), made(places, tree=LANE)
    assert pin.shared == lane.shared
    assert pin.own != lane.own
    differing = {name for name, place in pin.environ().items() if lane.environ()[name] != place}
    assert differing == {*OWN}
    assert differing >= {"VLLM_CACHE_ROOT", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}


@pytest.mark.parametrize("other", [{"base": OTHER_BASE}, {"lane": "another"}])
def test_another_base_and_another_lane_share_nothing(places: Places, other: dict[str, str]) -> None:
    one, another = made(places), made(places, **other)  # type: ignore[arg-type]
    assert not {*one.environ().values()} & {*another.environ().values()}


def test_nobody_else_reads_or_writes_them(places: Places) -> None:
    made(places)
    folder = places.state / "caches/sample"
    assert mode(folder) == 0o700
    folder.chmod(0o755)
    made(places)
    assert mode(folder) == 0o700


def test_they_stay(places: Places) -> None:
    (made(places).tactics / "kept").touch()
    assert (made(places, tree=LANE).tactics / "kept").exists()


def test_a_series_names_another_folder(places: Places, tmp_path: Path) -> None:
    fast = tmp_path / "fast" / "caches"
    caches = caches_of(places, "sample", base=BASE, tree=PIN, wanted=str(fast))
    assert caches.shared.is_relative_to(fast / "sample")
    assert mode(fast / "sample") == 0o700
    assert not (places.state / "caches").exists()


def test_a_link_in_its_place_is_refused(places: Places, tmp_path: Path) -> None:
    """Who laid it would choose what engines run."""
    (places.state / "caches").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (places.state / "caches/sample").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LanewrightError, match="is no folder of this user's own") as caught:
        made(places)
    assert str(caught.value.hint).startswith("see what it is: ls -ld ")
    assert not [*(tmp_path / "elsewhere").iterdir()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_another_users_folder_is_refused(places: Places) -> None:
    folder = places.state / "caches/sample"
    folder.mkdir(parents=True)
    os.chown(folder, 4711, 4711)
    with pytest.raises(LanewrightError, match="is no folder of this user's own"):
        made(places)


def test_where_none_can_be_made_it_is_said(places: Places) -> None:
    places.state.mkdir()
    (places.state / "caches").touch()
    with pytest.raises(LanewrightError, match="cannot keep what engines compile in") as caught:
        made(places)
    assert "`caches` in [image.run]" in str(caught.value.hint)


def test_the_cores_of_a_process_are_no_matter() -> None:
    mine = os.sched_getaffinity(0)
    before = kind_of_machine()
    os.sched_setaffinity(0, {min(mine)})
    try:
        assert kind_of_machine() == before
    finally:
        os.sched_setaffinity(0, mine)
