"""Claims of pull requests: two that claim the same exclude each other, by what is taken of them."""

import pytest

from lanewright.queue.plan import plan
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]
SERIES = """
[[entry]]
pull = {number}
head = "{digit}{digit:0>39}"
base = "{digit:0>40}"
"""
PR_FILE = """\
number = {number}
brings = "A pool"

[sources]
brings = "upstream's page"
"""
CLAIMS = """\
claims = "upstream's page"

[claims]
"experts.residency" = ["vllm/pool.py"]
"""


def knows(lane: Carrying, number: int, more: str = "") -> None:
    file = lane.root / f"patches/{number}/pr.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(PR_FILE.format(number=number) + more)


def names(lane: Carrying, number: int, more: str = "") -> None:
    with lane.series.open("a") as file:
        file.write(SERIES.format(number=number, digit=number) + more)


def digest(lane: Carrying) -> str:
    return plan(lane.project, "sample").digest


def test_two_pull_requests_with_one_claim_exclude_each_other(
    carrying: Carrying, capfd: Capture
) -> None:
    for number in (7, 8):
        knows(carrying, number, CLAIMS)
        names(carrying, number)
    assert carrying.run("build") == 1
    told = capfd.readouterr().err
    assert "entry 2 (8) claims 'experts.residency', and so does" in told
    assert "entry 1 (7); only one" in told


def test_what_is_taken_decides(carrying: Carrying) -> None:
    for number in (7, 8):
        knows(carrying, number, CLAIMS)
    names(carrying, 7)
    names(carrying, 8, 'select = ["vllm/table.py"]\n')
    given = plan(carrying.project, "sample").inputs
    assert [each.claims for each in given] == [("experts.residency",), ()]  # type: ignore[union-attr]


def test_claims_move_the_digest_and_facts_do_not(carrying: Carrying) -> None:
    names(carrying, 7)
    before = digest(carrying)
    knows(carrying, 7)
    assert digest(carrying) == before
    knows(carrying, 7, CLAIMS)
    assert digest(carrying) != before


def test_the_lock_says_them(carrying: Carrying, capfd: Capture) -> None:
    carrying.push(7, carrying.main[0], {"vllm/pool.py": b"rows = 1\n"})
    text = (carrying.root / "patches/7/pr.toml").read_text()
    (carrying.root / "patches/7/pr.toml").write_text(text + CLAIMS)
    assert carrying.run("add", "7") == 0
    assert carrying.lock.entries[0].claims == ["experts.residency"]
    (carrying.root / "patches/7/pr.toml").write_text(text)
    capfd.readouterr()
    assert carrying.run("status") == 0
    assert "lock: 7 claims other things\n" in capfd.readouterr().out
    assert carrying.run("build") == 0
    assert carrying.lock.entries[0].claims == []


@pytest.mark.parametrize("lane", ["sample", "other"])
def test_an_add_that_clashes_says_what_to_drop_for_it(
    carrying: Carrying, capfd: Capture, lane: str
) -> None:
    carrying.series.rename(carrying.root / f"series/{lane}.toml")
    more = [] if lane == "sample" else ["--lane", lane]
    for number in (7, 8):
        carrying.push(number, carrying.main[0], {"vllm/pool.py": b"rows = %d\n" % number})
        file = carrying.root / f"patches/{number}/pr.toml"
        file.write_text(file.read_text() + CLAIMS)
    assert carrying.run("add", "7", *more) == 0
    capfd.readouterr()
    assert carrying.run("add", "8", *more) == 1
    told = capfd.readouterr().err
    option = "".join(f" {word}" for word in more)
    hint = f"lanewright drop 7{option}, then lanewright add 8{option}"
    assert told.endswith(f"next: {hint}; or choose parts that do not claim it\n")
    for command in hint.split(", then "):
        assert carrying.run(*command.split()[1:]) == 0
