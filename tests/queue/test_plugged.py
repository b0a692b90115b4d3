"""``[seams]``: what is named there is carried, and is said to provide that seam."""

import pytest

from lanewright.queue.edit.dropping import dropped
from lanewright.queue.edit.edited import read_text
from lanewright.queue.edit.selection import read_part
from lanewright.queue.plan import plan
from tests.queue.test_claimed import digest, names
from tests.queue.told import written
from tests.upstream.fixtures import Carrying

PR_FILE = """\
number = 7
brings = "A pool"
provides = ["RowTable", "RowCopy"]

[sources]
brings = "upstream's page"
provides = "upstream's page"
"""
OVERLAY = '\n[[entry]]\noverlay = "rows"\n'


@pytest.fixture
def plugged(carrying: Carrying) -> Carrying:
    """A lane with #7, which provides two seams, #8, of which nothing is known, and an own patch."""
    (carrying.root / "patches/7").mkdir()
    (carrying.root / "patches/7/pr.toml").write_text(PR_FILE)
    names(carrying, 7)
    names(carrying, 8)
    return carrying


def with_seams(lane: Carrying, *lines: str) -> None:
    banks = '\n[engine]\nmoe_hot_experts = "5"\n'
    text = lane.series.read_text().replace(
        "\n[[entry]]", "".join([banks, "\n[seams]\n", *lines, "\n[[entry]]"]), 1
    )
    lane.series.write_text(text)


def test_a_seam_may_be_given_to_an_entry_or_to_our_own(plugged: Carrying) -> None:
    before = digest(plugged)
    (plugged.root / "overlay/rows").mkdir()
    (plugged.root / "overlay/rows/__init__.py").write_bytes(b"")
    with plugged.series.open("a") as file:
        file.write(OVERLAY)
    with_seams(plugged, 'RowTable = "7"\n', 'HostRows = "own"\n')
    assert plan(plugged.project, "sample").series.seams == {"RowTable": "7", "HostRows": "own"}
    assert digest(plugged) != before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('RowTabel = "7"\n', "[seams] RowTabel: there is no such seam (seams: RowTable, RowCopy"),
        ('RowTable = "9"\n', "[seams] RowTable: the lane carries no entry '9' (it has: 7, 8)"),
        ('HostRows = "7"\n', "#7 provides it (it says: RowTable, RowCopy)"),
        ('RowTable = "8"\n', "nothing is known of #8, so nothing says that it provides that"),
        ('RowTable = "own"\n', "RowTable: 'own' is our overlay, and the lane carries none"),
    ],
)
def test_a_seam_that_nothing_fits_is_refused(
    plugged: Carrying, capfd: pytest.CaptureFixture[str], line: str, told: str
) -> None:
    with_seams(plugged, line)
    assert plugged.run("build") == 1
    error = capfd.readouterr().err
    assert "series/sample.toml: [seams]" in error
    assert told in error


def test_a_seam_that_no_boot_enters_is_refused(
    plugged: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    with_seams(plugged, 'RowTable = "7"\n')
    plugged.series.write_text(plugged.series.read_text().replace('moe_hot_experts = "5"\n', ""))
    assert plugged.run("build") == 1
    told = "[seams]: RowTable: nothing enters what is named while moe_hot_experts is off\n"
    assert told in capfd.readouterr().err
    assert not plugged.series.with_suffix(".lock").exists()


def test_an_own_patch_provides_none(plugged: Carrying, capfd: pytest.CaptureFixture[str]) -> None:
    with plugged.series.open("a") as file:
        file.write('\n[[entry]]\npatch = "own/hook.patch"\n')
    with_seams(plugged, 'RowTable = "hook"\n')
    assert plugged.run("build") == 1
    assert "hook is no pull request, and only those provide seams" in capfd.readouterr().err


def test_a_series_without_seams_has_the_digest_that_it_had(plugged: Carrying) -> None:
    before = digest(plugged)
    with_seams(plugged)
    assert digest(plugged) == before


@pytest.mark.parametrize("part", ["7", "8"])
def test_an_entry_is_dropped_with_the_seams_that_name_it(plugged: Carrying, part: str) -> None:
    with_seams(plugged, 'RowTable = "7"\n', 'RowCopy = "7"  # its copies\n')
    text = plugged.series.read_text()
    text = dropped(plugged.project, plugged.places, "sample", text, read_part(part))
    series = read_text(plugged.project, "sample", text)
    assert series.seams == ({} if part == "7" else {"RowTable": "7", "RowCopy": "7"})
    assert [entry.pull for entry in series.entry] == [8 if part == "7" else 7]


def test_the_lines_that_make_a_pull_request_known_are_told(
    plugged: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    with_seams(plugged, 'RowTable = "8"\n')
    assert plugged.run("build") == 1
    error = capfd.readouterr().err
    (plugged.root / "patches/8").mkdir()
    text = written(error, "patches/8/pr.toml")
    (plugged.root / "patches/8/pr.toml").write_text(text)
    assert plan(plugged.project, "sample").series.seams == {"RowTable": "8"}
