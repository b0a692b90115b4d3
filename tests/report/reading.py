"""Parts of a report, by name."""

from typing import Any

Data = dict[str, Any]


def entry_of(report: Data, name: str) -> Data:
    [found] = [entry for entry in report["entries"] if entry["name"] == name]
    return dict(found)


def hunks_of(report: Data, name: str = "5") -> dict[str, Data]:
    """The hunks of an entry, by path and id."""
    return {
        f"{file['path']}:{hunk['id']}": hunk
        for file in entry_of(report, name)["files"]
        for hunk in file["hunks"]
    }


def hunk_at(report: Data, path: str, name: str = "5") -> Data:
    """The one hunk of a file."""
    [found] = [hunk for part, hunk in hunks_of(report, name).items() if part.startswith(f"{path}:")]
    return found


def turns_of(report: Data, name: str = "5") -> list[tuple[bool, str | None, bool]]:
    """Where an entry turned: whether it merges from there on, the commit, whether the pin lacks it."""
    return [
        (turn["merges"], turn.get("commit", {}).get("id"), turn.get("lacking", False))
        for turn in entry_of(report, name).get("turns", [])
    ]
