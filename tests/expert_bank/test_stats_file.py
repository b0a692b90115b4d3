"""The stats file: whole for every reader, and checked by it."""

import copy
import json
import os
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from expert_bank import stats_file
from expert_bank.refused import Refused
from expert_bank.stats import snapshot
from expert_bank.stats_file import (
    MOST_BYTES,
    checked,
    read_stats,
    remove_stats,
    write_stats,
)
from tests.expert_bank.watched import Banks


@pytest.fixture(scope="module")
def honest() -> dict[str, Any]:
    banks = Banks()
    banks.follow()
    banks.serve([5, 1, 3, 1], 3)
    return snapshot(banks, "/models/m")  # type: ignore[arg-type]


def test_what_was_written_is_read(honest: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    for tokens in (1, 2):
        write_stats(path, {**honest, "tokens": tokens})
        assert read_stats(path, model="/models/m") == {**honest, "tokens": tokens}
    assert [each.name for each in tmp_path.iterdir()] == ["stats.json"]


def test_a_reader_never_sees_a_part_of_it(honest: dict[str, Any], tmp_path: Path) -> None:
    path, done = tmp_path / "stats.json", Event()
    write_stats(path, {**honest, "tokens": 0})

    def write() -> None:
        for tokens in range(300):
            write_stats(path, {**honest, "tokens": tokens})
        done.set()

    thread = Thread(target=write)
    thread.start()
    seen = [read_stats(path)["tokens"]]
    while not done.is_set():
        seen.append(read_stats(path)["tokens"])
    thread.join()
    assert read_stats(path)["tokens"] == 299
    assert seen == sorted(seen)


def test_what_a_killed_process_left_is_no_hindrance(honest: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    (tmp_path / f".stats.json.{os.getpid()}").write_text("half")
    write_stats(path, honest)
    assert [each.name for each in tmp_path.iterdir()] == ["stats.json"]


def test_a_failed_write_leaves_the_old_one(honest: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    write_stats(path, honest)
    with pytest.raises(ValueError, match="Out of range float"):
        write_stats(path, {**honest, "time": float("inf")})
    assert read_stats(path) == honest
    assert [each.name for each in tmp_path.iterdir()] == ["stats.json"]
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for other in (fifo, tmp_path, tmp_path / "absent" / "stats.json"):
        with pytest.raises(OSError, match=f"{other.parent if 'absent' in str(other) else other}"):
            write_stats(other, honest)
    assert fifo.is_fifo()


def broken(honest: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy with one part replaced; ``...`` takes it out."""
    whole = copy.deepcopy(honest)
    part: Any = whole
    *rest, last = path.split(".")
    for key in rest:
        part = part[int(key) if key.isdigit() else key]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return whole


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("tokens", ...),
        ("tokens", -1),
        ("tokens", 1.0),
        ("tokens", True),
        ("tokens", 2**63),
        ("time", "now"),
        ("time", None),
        ("started", 5),
        ("model", 5),
        ("frozen", 1),
        ("cold", []),
        ("cold.late", -0.1),
        ("cold.late", 1.1),
        ("cold.null", ...),
        ("regret.served", None),
        ("regret.oracle", -1),
        ("regret.late", -1.1),
        ("guard", {}),
        ("guard.trusted", 1),
        ("guard.fallbacks", None),
        ("swapping.waiting", ...),
        ("engine", "0"),
        ("served_as", None),
        ("layers", []),
        ("layers", {}),
        ("layers", [5]),
        ("layers.1.name", None),
        ("layers.1.hot_picks", "many"),
        ("layers.1.cold.oracle", ...),
    ],
)
def test_what_is_wrong_is_named(
    honest: dict[str, Any], tmp_path: Path, path: str, value: object
) -> None:
    file = tmp_path / "stats.json"
    file.write_text(json.dumps(broken(honest, path, value)))
    with pytest.raises(Refused) as refused:
        read_stats(file)
    parts = path.split(".")
    named = "[".join([parts[0], *parts[1:2]]) if parts[0] == "layers" else ".".join(parts[:1])
    assert refused.value.message.startswith(f"stats file {file}: {named}")
    assert refused.value.message.endswith(" is missing, or not what it must be")
    assert "EXPERT_BANK_STATS=FILE" in refused.value.hint


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "cannot be read as JSON"),
        (b'{"schema": 2, "tim', "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[" * 200_000, "cannot be read as JSON"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b"5", "it is no JSON object"),
        (b"{}", "its schema is None, and this reads 2"),
        (b'{"schema": 1}', "its schema is 1, and this reads 2"),
        (b'{"schema": true}', "its schema is True, and this reads 2"),
        (b" " * (MOST_BYTES + 1), f"it has more than {MOST_BYTES} bytes"),
    ],
)
def test_what_is_no_stats_file_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "stats.json"
    file.write_bytes(content)
    with pytest.raises(Refused, match=told):
        read_stats(file)


def test_a_missing_one_and_one_of_another_model_are_told(
    honest: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "stats.json"
    with pytest.raises(Refused, match=f"stats file {file}: there is no such file"):
        read_stats(file)
    write_stats(file, honest)
    with pytest.raises(Refused, match="it is of model '/models/m', and not of 'other'"):
        read_stats(file, model="other")


def test_what_told_no_start_is_read(honest: dict[str, Any]) -> None:
    assert "started" not in checked(broken(honest, "started", ...))


def test_what_a_later_version_adds_is_no_matter(honest: dict[str, Any]) -> None:
    assert checked({**honest, "more": [1]})["more"] == [1]


def test_nothing_but_the_standard_library_is_needed() -> None:
    source = Path(stats_file.__file__).read_text()
    assert "numpy" not in source
    assert "torch" not in source


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *((path, 10**400) for path in ("time", "regret.served", "swapping.seconds", "tokens")),
        ("layers.0.name", "\ud800"),
        ("model", "a\udfff"),
    ],
)
def test_what_no_reader_could_pass_on_is_refused(
    honest: dict[str, Any], tmp_path: Path, path: str, value: object
) -> None:
    file = tmp_path / "stats.json"
    file.write_text(json.dumps(broken(honest, path, value)))
    with pytest.raises(Refused, match="is missing, or not what it must be"):
        read_stats(file)


def test_a_pipe_is_refused_at_once_and_neither_it_nor_a_link_is_removed(
    honest: dict[str, Any], tmp_path: Path
) -> None:
    fifo, file, link = tmp_path / "pipe", tmp_path / "stats.json", tmp_path / "link"
    os.mkfifo(fifo)
    with pytest.raises(Refused, match="it is no regular file"):
        read_stats(fifo)
    write_stats(file, honest)
    link.symlink_to(file)
    for each in (fifo, link, file, tmp_path / "absent"):
        remove_stats(each)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "pipe"]
