"""What ``[seams]`` name reaches the lane's tree with our overlay, and nothing does without."""

import json
from typing import Any

import pytest

from lanewright.queue.plan import plan
from lanewright.queue.use.seams import ADAPTERS, SEAMS_FILE
from tests.queue.test_plugged import PR_FILE, with_seams
from tests.upstream.fixtures import Carrying

SEVEN = "vllm/seven.py"
OVERLAY = '\n[[entry]]\noverlay = "expert_bank"\n'


@pytest.fixture
def plugged(carrying: Carrying) -> Carrying:
    """A lane with #7, which provides two seams and fits the adapter of #5, and our overlay."""
    carrying.push(7, carrying.main[0], {SEVEN: b"def seven():\n    return 7\n"})
    assert carrying.run("add", "7") == 0
    (carrying.root / "patches/7/pr.toml").write_text(f"adapter = 5\n{PR_FILE}")
    package = carrying.root / "overlay" / ADAPTERS
    package.mkdir(parents=True)
    for name in ("__init__", "own", "pr5", "pr9"):
        (package / f"{name}.py").write_text(f"NAME = {name!r}\n")
    with carrying.series.open("a") as file:
        file.write(OVERLAY)
    return carrying


def laid(lane: Carrying) -> dict[str, Any] | None:
    """What the overlay has of the seams, as it would be laid."""
    overlay = plan(lane.project, "sample").inputs[-1]
    found = {file.path: file.content for file in getattr(overlay, "files", ())}
    assert f"{ADAPTERS}own.py" in found
    assert list(found) == sorted(found)
    return json.loads(found[SEAMS_FILE]) if SEAMS_FILE in found else None


def digests(lane: Carrying) -> tuple[str, str]:
    """Of the overlay, and of the lane."""
    planned = plan(lane.project, "sample")
    return planned.inputs[-1].digest, planned.digest


def test_a_pull_request_is_named_with_whose_adapter_fits(plugged: Carrying) -> None:
    before = digests(plugged)
    with_seams(plugged, 'RowTable = "7"\n', 'RowCopy = "own"\n')
    assert laid(plugged) == {"RowTable": {"from": "7", "adapter": "5"}}
    after = digests(plugged)
    assert all(old != new for old, new in zip(before, after, strict=True))
    text = plugged.series.read_text()
    plugged.series.write_text(text.replace('RowCopy = "own"', 'RowCopy = "7"'))
    assert all(old != new for old, new in zip(after, digests(plugged), strict=True))


@pytest.mark.parametrize("lines", [[], ['RowTable = "own"\n', 'HostRows = "own"\n']])
def test_where_all_is_our_own_nothing_is_laid(plugged: Carrying, lines: list[str]) -> None:
    before = digests(plugged)[0]
    with_seams(plugged, *lines)
    assert laid(plugged) is None
    assert digests(plugged)[0] == before


def test_the_number_is_told_of_an_entry_with_another_name(plugged: Carrying) -> None:
    text = plugged.series.read_text().replace("pull = 7", 'pull = 7\nname = "pool"')
    plugged.series.write_text(text)
    with_seams(plugged, 'RowTable = "pool"\n')
    assert laid(plugged) == {"RowTable": {"from": "7", "adapter": "5"}}


def test_by_default_the_adapter_is_its_own(plugged: Carrying) -> None:
    file = plugged.root / "patches/7/pr.toml"
    file.write_text(file.read_text().replace("adapter = 5\n", ""))
    (plugged.root / "overlay" / ADAPTERS / "pr7.py").write_text("")
    with_seams(plugged, 'RowCopy = "7"\n')
    assert laid(plugged) == {"RowCopy": {"from": "7", "adapter": "7"}}


def test_the_tree_and_the_lock_say_it(plugged: Carrying) -> None:
    with_seams(plugged, 'RowTable = "7"\n')
    assert plugged.run("build", "--check") == 4
    assert plugged.run("build") == 0
    assert SEAMS_FILE in plugged.lock.entries[-1].files
    said = plugged.read(plugged.lock.tree)[SEAMS_FILE]
    assert json.loads(said) == {"RowTable": {"from": "7", "adapter": "5"}}
    assert plugged.run("verify", "--lock") == 0


@pytest.mark.parametrize(
    ("adapter", "told"),
    [
        (
            "adapter = 6",
            "[seams] RowTable: overlay/expert_bank has no adapter for #6 (it has: 5, 9)",
        ),
        ("adapter = 0", "adapter"),
        ('adapter = "5"', "adapter"),
    ],
)
def test_an_adapter_that_is_none_is_refused(
    plugged: Carrying, capfd: pytest.CaptureFixture[str], adapter: str, told: str
) -> None:
    file = plugged.root / "patches/7/pr.toml"
    file.write_text(file.read_text().replace("adapter = 5", adapter))
    with_seams(plugged, 'RowTable = "7"\n')
    assert plugged.run("build") == 1
    assert told in capfd.readouterr().err


def test_what_stages_and_prefetches_needs_no_adapter_of_the_banks(plugged: Carrying) -> None:
    file = plugged.root / "patches/7/pr.toml"
    text = file.read_text().replace("adapter = 5\n", "").replace('"RowCopy"', '"PrefetchCopy"')
    file.write_text(text)
    with_seams(plugged, 'PrefetchCopy = "7"\n')
    assert laid(plugged) == {"PrefetchCopy": {"from": "7", "adapter": "7"}}


def test_a_file_of_that_name_in_the_overlay_is_refused(
    plugged: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    (plugged.root / "overlay" / SEAMS_FILE).write_text("{}")
    with_seams(plugged, 'RowTable = "7"\n')
    assert plugged.run("build") == 1
    assert "overlay/expert_bank/seams.json is made from [seams]" in capfd.readouterr().err


def test_an_adapter_does_not_use_what_no_seam_names(
    plugged: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    (plugged.root / "overlay" / ADAPTERS / "pr5.py").write_text("import vllm.seven\n")
    assert plugged.run("build") == 1
    assert "is dead weight" in capfd.readouterr().err
    with_seams(plugged, 'RowTable = "7"\n')
    assert plugged.run("build") == 0
