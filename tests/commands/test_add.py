"""``lanewright add`` of what is carried already, in part or at its newest head."""

import pytest

from lanewright.queue.series import load_series
from tests.upstream.fixtures import Carrying

ONE, TWO = "vllm/one.py", "vllm/two.py"


@pytest.fixture
def seven(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> Carrying:
    """A lane that carries one of the two files of #7."""
    carrying.push(7, carrying.main[0], {ONE: b"one = 1\n", TWO: b"two = 2\n"})
    assert carrying.run("add", f"7:{ONE}") == 0
    capfd.readouterr()
    return carrying


def test_the_number_alone_takes_all_of_it(
    seven: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    assert seven.run("add", "7") == 0
    assert "7: all of it from now on, in place of 1 part" in capfd.readouterr().err
    [entry] = load_series(seven.project, "sample").entry
    assert entry.select is None
    assert {ONE, TWO} <= seven.read(seven.lock.tree).keys()
    assert seven.run("add", "7") == 1
    assert "next: lanewright add 7 --update moves it" in capfd.readouterr().err


def test_an_update_of_what_is_at_its_newest_head_is_clean(
    seven: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    before = (seven.series.read_bytes(), seven.lock)
    assert seven.run("add", "7", "--update") == 0
    told = [line for line in capfd.readouterr().err.splitlines() if "fetching" not in line]
    assert told == ["7 is at its newest head"]
    assert (seven.series.read_bytes(), seven.lock) == before
