"""``lanewright residency top`` shows a stats file, or what a server answers."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from expert_bank.stats import snapshot
from expert_bank.stats_file import write_stats
from lanewright.residency.top.rows import follows_on
from lanewright.serve.port import HOST, usable_port
from tests.conftest import World
from tests.expert_bank.test_metrics import STAGING
from tests.expert_bank.watched import Banks
from tests.process import COMMAND, start

Capture = pytest.CaptureFixture[str]
TOP = ("residency", "top")
ESCAPES = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


def stats(
    *, layers: int = 2, model: str = "/models/m", names: Sequence[str] = ()
) -> dict[str, Any]:
    """What a worker told that lives as long as this test; the map was switched under it."""
    banks = Banks(layers=layers, experts=8, hot=6, names=names)
    banks.follow(tokens_per_swap=0, residence=0, half_life=10**6)
    banks.serve([9, 9, 9, 9, 9, 9, 1, 1], 2)
    banks.following.policy.frozen = True
    banks.serve([9, 9, 9, 9, 1, 9, 9, 1], 4)
    return snapshot(banks, model)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stats.json"
    write_stats(path, stats())
    return path


def test_one_frame_is_the_model_and_a_row_a_layer(world: World, file: Path, capfd: Capture) -> None:
    assert world.run(*TOP, "--file", str(file), "--once") == 0
    out, err = capfd.readouterr()
    assert err == ""
    told = [line.rstrip() for line in out.splitlines()]
    assert told[0] == "frozen  /models/m"
    assert re.fullmatch(r"forward 6, 168 tokens, \d s ago; regret 2\.9%, 16 picks so far", told[1])
    assert told[2:] == [
        "cold: 12.1% of late (boot 12.1%, oracle 9.3%, null 25.0%), 13.1% so far",
        "0 swaps, 0 B, 0 failed, 0 cut, 0 waiting; 0 fallbacks, 0 returns",
        "0.00 s at 0 barriers, 0.01 s deciding",
        "layer  hot  picks   cold   boot  oracle  regret  swaps",
        "0      6/8    336  12.1%  12.1%    9.3%    2.9%      0",
        "1      6/8    336  12.1%  12.1%    9.3%    2.9%      0",
    ]


def test_data_are_the_stats_as_they_came(world: World, file: Path, capfd: Capture) -> None:
    assert world.run(*TOP, "--file", str(file), "--json") == 0
    assert json.loads(capfd.readouterr().out) == json.loads(file.read_text())


def test_a_map_that_stands_still_has_dashes(world: World, tmp_path: Path, capfd: Capture) -> None:
    banks, path = Banks(), tmp_path / "stats.json"
    banks.serve([1, 1, 1, 1])
    write_stats(path, snapshot(banks, "m"))  # type: ignore[arg-type]
    assert world.run(*TOP, "--file", str(path), "--once") == 0
    out = capfd.readouterr().out
    assert "stands still  m\n" in out
    assert "cold: - of late (boot -, oracle -, null -), 50.0% so far" in out
    assert "0      2/4      4     -     -       -       -      0" in out


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({}, "from 65 tokens on"),
        ({"least_tokens": None}, "no step is long enough"),
        ({"on": False}, "off"),
    ],
)
def test_a_staging_buffer_has_a_line(
    world: World, tmp_path: Path, capfd: Capture, changed: dict[str, Any], state: str
) -> None:
    path, staged = tmp_path / "stats.json", {**STAGING, "bytes": 2**20, **changed}
    write_stats(path, {**stats(), "staging": staged})
    assert world.run(*TOP, "--file", str(path), "--once") == 0
    told = (
        f"\nstaging, {state}: 21 steps, 1.00 MiB, 25 rows late; in place 31 decode, 32 switched_off,"
        " 33 captured, 34 below_threshold, 36 failed, 35 unfilled steps\n"
    )
    assert told in capfd.readouterr().out


def test_names_that_would_steer_a_terminal_are_written_out(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    names = ["a.\x1b]0;owned\x07", "a.\u202eevil", "a.b\nforged  line", "a.[red]x[/red]"]
    told = {**stats(layers=4, model="\x1b[2Jm", names=names), "state": "\x9b31m"}
    path = tmp_path / "stats.json"
    write_stats(path, told)
    assert world.run(*TOP, "--file", str(path), "--once") == 0
    out = capfd.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    assert len(out.splitlines()) == 10
    assert "'\\x1b[2Jm'" in out
    assert "'\\x9b31m'" in out
    assert "'\\x1b]0;owned\\x07'" in out
    assert "'\\u202eevil'" in out
    assert "[red]x[/red]" in out
    for shown in terminal(world, "--file", str(path), "--once", columns=160)[1].splitlines():
        assert ESCAPES.sub(b"", shown).decode().isprintable()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no such file"),
        ('{"schema": 2, "time"', "it cannot be read as JSON"),
        ('{"schema": 7}', "its schema is 7, and this reads 2"),
        ('{"schema": 2}', "time is missing, or not what it must be"),
    ],
)
def test_what_is_no_stats_file_is_told(
    world: World, tmp_path: Path, capfd: Capture, content: str | None, told: str
) -> None:
    path = tmp_path / "stats.json"
    if content is not None:
        path.write_text(content)
    assert world.run(*TOP, "--file", str(path)) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert f"lanewright: stats file {path}: {told}" in err
    assert "  next: start the server" in err


def test_the_file_of_a_server_that_is_gone_is_told(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    path = tmp_path / "stats.json"
    write_stats(path, {**stats(), "pid": gone.pid, "time": time.time() - 90})
    assert world.run(*TOP, "--file", str(path)) == 1
    assert re.search(
        rf"the worker that wrote it, process {gone.pid}, is gone; it was written 9\d s ago",
        capfd.readouterr().err,
    )


def test_of_a_folder_the_one_server_that_runs_is_shown(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    folder = tmp_path / "of a lane"
    folder.mkdir()
    assert world.run(*TOP, "--file", str(folder), "--once") == 1
    assert f"no server that runs tells in {folder} how its map does" in capfd.readouterr().err
    write_stats(folder / "a.json", {**stats(model="old"), "pid": gone.pid})
    (folder / "b.json").write_text("{")
    assert world.run(*TOP, "--file", str(folder), "--once") == 1
    err = capfd.readouterr().err
    assert f"  next: start one on this version with EXPERT_BANK_STATS='{folder}' and" in err
    write_stats(folder / "c.json", stats(model="new"))
    assert world.run(*TOP, "--file", str(folder), "--once") == 0
    assert capfd.readouterr().out.startswith("frozen  new\n")


def test_a_server_that_is_gone_is_not_a_later_process_of_its_number(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    long_ago = {**stats(model="old"), "time": time.time() - 3 * 24 * 3600}
    earlier = {key: value for key, value in long_ago.items() if key != "started"}
    for each in ({**long_ago, "started": "another boot:7"}, earlier):
        write_stats(tmp_path / "a.json", each)
        assert world.run(*TOP, "--file", str(tmp_path / "a.json"), "--once") == 1
        assert f"process {os.getpid()}, is gone; it was written 2592" in capfd.readouterr().err
        write_stats(tmp_path / "b.json", stats(model="new"))
        assert world.run(*TOP, "--file", str(tmp_path), "--once") == 0
        assert capfd.readouterr().out.startswith("frozen  new\n")


def test_a_frame_does_not_go_on_from_a_process_that_had_the_number() -> None:
    told = stats()
    assert follows_on(told, told)
    assert not follows_on(told, {**told, "started": "another boot:7"})
    earlier = {key: value for key, value in told.items() if key != "started"}
    assert follows_on(earlier, earlier)


def test_of_several_servers_in_a_folder_each_is_named_and_one_must_be_chosen(
    world: World, tmp_path: Path, capfd: Capture
) -> None:
    for name, model in (("a", "/models/m"), ("b", "m\nforged")):
        write_stats(tmp_path / f"{name}.json", stats(model=model))
    assert world.run(*TOP, "--file", str(tmp_path), "--json") == 1
    out, err = capfd.readouterr()
    assert out == ""
    told = err.splitlines()
    assert told[0] == f"lanewright: 2 servers that run tell in {tmp_path} how their maps do"
    process = f"process {os.getpid()}"
    assert told[1].startswith(f"  {tmp_path}/a.json: {process}, /models/m, forward 6, ")
    assert told[2].startswith(f"  {tmp_path}/b.json: {process}, 'm\\nforged', forward 6, ")
    assert told[3] == f"  next: name one: lanewright residency top --file {tmp_path}/a.json"
    assert world.run(*TOP, "--file", str(tmp_path / "b.json"), "--once") == 0


@contextmanager
def answering(results: object, status: int = 200) -> Iterator[tuple[int, list[Any]]]:
    """Have a server answer with these results while the block runs; its port, what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps({"results": results}).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    with HTTPServer((HOST, 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def test_a_server_is_asked(world: World, capfd: Capture) -> None:
    # Its process need not be one of this machine's.
    with answering([{**stats(), "pid": 2**40}]) as (port, asked):
        assert world.run(*TOP, "--port", str(port), "--once") == 0
    assert "frozen  /models/m\n" in capfd.readouterr().out
    assert asked == [{"method": "expert_bank_stats"}]


@pytest.mark.parametrize(
    ("results", "status", "told"),
    [
        ([None], 200, "has all experts resident, and so no map"),
        ([], 200, "does not tell how its map does: /collective_rpc answered without results"),
        ("text", 200, "does not tell how its map does: /collective_rpc answered without"),
        ([5], 200, "does not tell how its map does: it is no JSON object"),
        ([{"schema": 1}], 200, "does not tell how its map does: its schema is 1"),
        ([], 500, "does not tell how its map does: /collective_rpc answered 500"),
    ],
)
def test_a_server_that_does_not_tell_is_told(
    world: World, capfd: Capture, results: object, status: int, told: str
) -> None:
    with answering(results, status) as (port, _):
        assert world.run(*TOP, "--port", str(port)) == 1
    err = capfd.readouterr().err
    assert f"lanewright: the server on port {port} {told}" in err
    assert "  next: start it with --moe-hot-experts" in err


def test_no_server_is_told(world: World, capfd: Capture) -> None:
    port = usable_port(None)
    assert world.run(*TOP, "--port", str(port)) == 1
    err = capfd.readouterr().err
    assert err.startswith(f"lanewright: nothing listens on 127.0.0.1:{port}, so there is no server")
    assert "  next: start the server, or name its --port" in err


def test_an_empty_path_is_no_folder(world: World, capfd: Capture) -> None:
    with pytest.raises(SystemExit) as ended:
        world.run(*TOP, "--file", "", "--once")
    assert ended.value.code == 2
    err = capfd.readouterr().err
    assert "argument --file: it is empty: is EXPERT_BANK_STATS set in this shell?" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--interval", "0"],
        ["--interval", "nan"],
        ["--interval", "soon"],
        ["--port", "0"],
        ["--port", "8000", "--file", "f"],
    ],
)
def test_what_cannot_be_read_ends_with_2(world: World, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        world.run(*TOP, *arguments)
    assert ended.value.code == 2


def test_without_a_terminal_frame_follows_frame(world: World, file: Path) -> None:
    process = start(world.root, *TOP, "--file", str(file), "--interval", "0.1")
    assert process.stdout
    assert process.stderr
    first = [process.stdout.readline() for _ in range(8)]
    later = stats()
    for layer in later["layers"]:
        layer["cold_picks"] += 5
    write_stats(file, later)
    frames = [*first, *(process.stdout.readline() for _ in range(80))]
    picks = {line.split()[2] for line in frames if line.startswith("0 ")}
    # Since start, since a frame that was the same, and since the one before the write.
    assert picks == {"336", "0", "5"}
    write_stats(file, stats(model="another"))
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "is of model 'another', and not of '/models/m'" in err
    assert "\x1b" not in "".join(frames) + out


def test_a_reader_that_goes_away_ends_it(world: World, file: Path) -> None:
    command = " ".join(
        [*COMMAND, "-C", str(world.root), *TOP, "--file", str(file), "--interval", "0.1"]
    )
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -n 1"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "frozen  /models/m\n", "")


def terminal(
    world: World,
    *arguments: str,
    columns: int = 80,
    lines: int = 24,
    until: bytes = b"",
    env: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """Run it on a terminal, and interrupt it as Ctrl-C does once this text was shown."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (lines, columns))
    process = subprocess.Popen(
        [*COMMAND, "-C", str(world.root), *TOP, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={
            **{name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")},
            "TERM": "xterm",
            **(env or {}),
        },
    )
    os.close(theirs)
    seen, asked, deadline = b"", False, time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 1)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:  # its last writer is gone
                break
        if until and until in seen and not asked:
            asked = True
            process.send_signal(signal.SIGINT)
    code = process.wait(timeout=30)
    os.close(ours)
    return code, seen


def test_on_a_terminal_it_is_drawn_over_and_ctrl_c_ends_it(world: World, file: Path) -> None:
    code, seen = terminal(world, "--file", str(file), "--interval", "0.1", until=b"layer")
    assert code == 130
    assert b"Traceback" not in seen
    assert b"\x1b[?1049h" in seen
    # The screen and the cursor are given back before the last word.
    assert seen.index(b"\x1b[?1049l") < seen.index(b"lanewright: interrupted")
    assert seen.index(b"\x1b[?25h") < seen.index(b"lanewright: interrupted")


def test_colours_are_for_terminals_and_not_with_no_color(world: World, file: Path) -> None:
    arguments = ("--file", str(file), "--once")
    assert b"\x1b[" in terminal(world, *arguments)[1]
    assert b"\x1b" not in terminal(world, *arguments, env={"NO_COLOR": "1"})[1]


def test_a_narrow_and_low_terminal_shows_what_matters_most(world: World, tmp_path: Path) -> None:
    path, told = tmp_path / "stats.json", stats(layers=30)
    told["layers"][17]["cold"]["late"] = 0.5
    write_stats(path, told)
    code, seen = terminal(
        world, "--file", str(path), columns=30, lines=12, until=b"with less", env={"NO_COLOR": "1"}
    )
    assert code == 130
    shown, _, _ = ESCAPES.sub(b"", seen).decode().partition("with less")
    lines = [line.rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= 30
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("layer")) :]
    assert table[0].split() == ["layer", "picks", "cold", "regret"]
    assert [row.split()[0] for row in table[1:-1]] == ["0", "1", "2", "17"]
    assert table[4].split()[2:] == ["50.0%", "40.7%"]
    assert table[-1].startswith("26 more layers")


def test_once_shows_all_layers_on_a_low_terminal(world: World, tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    write_stats(path, stats(layers=30))
    _, seen = terminal(world, "--file", str(path), "--once", lines=12, env={"NO_COLOR": "1"})
    rows = [line for line in seen.decode().splitlines() if re.match(r"\d+ +6/8", line)]
    assert len(rows) == 30
