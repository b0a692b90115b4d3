"""What a search found is placed in the file in which it is mended."""

import msgspec
import pytest

from lanewright.nightly.placing import Place, Placing, _line_of
from lanewright.project import Project
from lanewright.queue.lock import LockedFix
from lanewright.report.model import EntryReport, Report
from tests.conftest import World

Capture = pytest.CaptureFixture[str]
HUNK = "vllm/arguments.py"


@pytest.fixture
def report(world: World, capfd: Capture) -> Report:
    capfd.readouterr()
    assert world.run("report", "--json") == 0
    return msgspec.json.decode(capfd.readouterr().out, type=Report)


def changed(report: Report, **entry: object) -> Report:
    """The report with another first entry."""
    first, *rest = report.entries
    return msgspec.structs.replace(report, entries=[msgspec.structs.replace(first, **entry), *rest])


def placing(world: World, report: Report | None) -> Placing:
    return Placing(Project.find(world.root), "sample", report)


def first_hunk(entry: EntryReport) -> str:
    return entry.files[0].hunks[0].id


def test_an_overlay_is_placed_in_what_is_imported_first(world: World, report: Report) -> None:
    found = placing(world, report).of_part("sample_package", [])
    assert found == Place("overlay/sample_package/__init__.py")


def test_a_hunk_that_a_fix_settles_is_placed_in_the_fix(world: World, report: Report) -> None:
    fix = "overlay/fixes/hook/arguments.toml"
    (world.root / fix).parent.mkdir(parents=True)
    (world.root / fix).touch()
    hook = report.entries[0]
    hunks = [msgspec.structs.replace(hunk, outcome="fixed") for hunk in hook.files[0].hunks]
    files = [msgspec.structs.replace(hook.files[0], hunks=hunks)]
    fixes = [LockedFix(HUNK, fix, "0" * 64, "replayed")]
    name = first_hunk(hook)
    settled = placing(world, changed(report, files=files, fixes=fixes))
    assert settled.of_part(f"hook:{HUNK}:{name}", [name]) == Place(fix)


def test_a_pull_request_is_placed_in_the_series(world: World, report: Report) -> None:
    name = first_hunk(report.entries[0])
    pulled = placing(world, changed(report, kind="pull", source="#5"))
    at = (world.root / "series/sample.toml").read_text().splitlines().index("[[entry]]") + 1
    assert pulled.of_part(f"hook:{HUNK}:{name}", [name]) == Place("series/sample.toml", at)
    assert placing(world, None).of_part("hook", []) == Place("series/sample.toml", at)


@pytest.mark.parametrize("source", ["../../etc/passwd", "/etc/passwd", "patches/none", "a\nb"])
def test_no_report_leads_out_of_the_project(world: World, report: Report, source: str) -> None:
    name = first_hunk(report.entries[0])
    odd = placing(world, changed(report, source=source))
    assert odd.of_part(f"hook:{HUNK}:{name}", [name]).file == "series/sample.toml"


def test_lines_of_a_patch() -> None:
    patch = (
        b"Description: a\n\ndiff --git a/x b/x\n@@ -1,2 +1,3 @@\n a\n+b\n c\n"
        b"diff --git a/y b/y\n@@ -1,2 +1,3 @@\n a\n@@ -9,0 +10,1 @@\n+z\n"
    )
    assert _line_of(patch, "y", "1+2") == 9
    assert _line_of(patch, "y", "10+0") == 11
    assert _line_of(patch, "y", "77+1") == 8
    assert _line_of(patch, "none", "1+2") == 1
