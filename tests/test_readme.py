"""The texts show what the lanes are now."""

from pathlib import Path

from lanewright.project import Project
from lanewright.queue.lock import layer_of, read_lock
from lanewright.queue.series import load_series
from lanewright.report.outcome import in_one_line
from lanewright.serve.flags import flags

ROOT = Path(__file__).parents[1]


def test_the_summary_in_the_readme_is_that_of_the_lock() -> None:
    lock = read_lock(ROOT / "series" / "cpu-tiny.lock")
    assert lock is not None
    text = (ROOT / "README.md").read_text()
    assert f"  pin      {lock.pin.ref} (commit {lock.pin.commit[:12]})" in text
    assert f"  tree     {lock.tree}\n" in text
    assert f"  layer    {layer_of(lock).digest} ({layer_of(lock).size} bytes)" in text
    for entry in lock.entries:
        assert f"  {entry.kind:<8} {entry.name}: {in_one_line(entry)}\n" in text


def test_the_flags_of_the_lane_that_follows_are_those_of_its_series() -> None:
    engine = load_series(Project.find(ROOT), "cpu-follow").engine
    text = " ".join((ROOT / "docs" / "following.md").read_text().split())
    assert f"`{' '.join(flags(engine))}`" in text
