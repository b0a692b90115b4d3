"""The README shows what the default lane is now."""

from pathlib import Path

from lanewright.queue.lock import layer_of, read_lock
from lanewright.report.outcome import in_one_line

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
