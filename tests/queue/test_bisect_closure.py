"""``bisect`` of a change whose hunks need each other."""

import json

import pytest

from tests.queue.planted import tries
from tests.queue.test_closed import paths
from tests.upstream.fixtures import Carrying

Capture = pytest.CaptureFixture[str]
A, B, C, D = (f"vllm/p{letter}.py" for letter in "abcd")
BASE: dict[str, bytes | None] = {
    A: b"def rows(): ...\n",
    B: b"step = 1\n",
    C: b"from vllm.pa import rows\n",
    D: b"other = 1\n",
}
# The renamed function and its user are of one piece, and so are the culprit and what it uses.
HEAD: dict[str, bytes | None] = {
    A: b"def row_count(): ...\n",
    B: b"from vllm.pd import new\n\nstep = 2\n",
    C: b"from vllm.pa import row_count\n",
    D: b"new = 1\n",
}


def test_what_needs_each_other_is_left_out_together(carrying: Carrying, capfd: Capture) -> None:
    first = carrying.push(6, carrying.main[0], BASE)
    assert carrying.run("add", "6") == 0
    carrying.push(7, first, HEAD)
    assert carrying.run("add", "7") == 0
    assert paths(carrying)[1] == {A, B, C, D}
    capfd.readouterr()
    command = f'! grep -q "step = 2" $LANEWRIGHT_TREE/{B}'
    assert carrying.run("bisect", "--json", "--run", command) == 0
    printed = capfd.readouterr()
    told = json.loads(printed.out)
    found = {each["part"].split(":")[1] for each in told["parts"] if each["part"].startswith("7:")}
    assert found == {B, D}
    whys = [each.get("untold", "") for each in told["parts"] if f"7:{D}:" in each["part"]]
    assert len(whys) == 1
    assert ": uses vllm.pd.new, which " in whys[0]
    assert "untestable" in {verdict for _, verdict in tries(printed.err)}
