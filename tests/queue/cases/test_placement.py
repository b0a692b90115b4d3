"""Where a hunk goes when upstream moved: into its own place, or a person is asked.

For own patches `tests/queue/test_twins.py` has more twins, and `test_subset.py` has hypothesis
take every subset of hunks.
"""

from itertools import combinations

import pytest

from tests.queue.cases.lane import KINDS, Kind, Lane, carried

FILE, C = "vllm/x.py", "vllm/x.c"
BODY = "        value = self.load()\n        self.store(value)\n        return value\n\n"


def twins(names: str, edited: str = "") -> dict[str, bytes]:
    """A class of methods with equal bodies, save the edited one."""
    bodies = [BODY.replace("value)", "value + 1)") if name == edited else BODY for name in names]
    methods = [f"    def {name}(self):\n{body}" for name, body in zip(names, bodies, strict=True)]
    return {FILE: ("class A:\n" + "".join(methods)).encode()}


@pytest.mark.parametrize("upstream", ["ac", "bac", "c"])
def test_twin_context_where_the_twin_is_gone_asks_a_person(lane: Lane, upstream: str) -> None:
    assert carried(lane, "pull", twins("abc"), twins("abc", "b"), twins(upstream)) == 3
    assert lane.outcomes() == ["conflict"]


@pytest.mark.parametrize("upstream", ["zabc", "azbc", "abcz"])
def test_twin_context_with_a_fourth_copy_edits_the_right_one(lane: Lane, upstream: str) -> None:
    assert carried(lane, "pull", twins("abc"), twins("abc", "b"), twins(upstream)) == 0
    assert lane.read() == twins(upstream, "b")


AROUND = b"first()\nsecond()\n\n}\n\n\n}\n\nthird()\nfourth()\n"
INSERTED = AROUND.replace(b"}\n\n\n}", b"}\n\nours()\n\n}")
# What upstream made of the lines around; the inner ones are blanks and brackets, and stay.
OUTER = {
    "vllm/gone.c": AROUND.replace(b"second()\n", b"").replace(b"third()\n", b""),
    "vllm/doubled.c": b"\n}\n\n\n}\n\n" + AROUND.replace(b"second()", b"other()"),
    "vllm/exchanged.c": b"first()\nthird()\n\n}\n\n\n}\n\nsecond()\nfourth()\n",
    "vllm/inner.c": b"}\n\n\n}\n\n" * 3,
}


@pytest.mark.parametrize("kind", KINDS)
def test_fuzz_is_never_used(lane: Lane, kind: Kind) -> None:
    around, inserted = dict.fromkeys(OUTER, AROUND), dict.fromkeys(OUTER, INSERTED)
    assert carried(lane, kind, around, inserted, OUTER) == 3
    assert {hunk.path: hunk.outcome for hunk in lane.hunks()} == dict.fromkeys(OUTER, "conflict")


def test_fuzz_is_not_needed_where_the_lines_around_tell_the_place(lane: Lane) -> None:
    below = AROUND + b"".join(b"line_%d()\n" % number for number in range(9))
    moved = b"above()\n" + below.replace(b"line_5()\n", b"line_5(1)\n")
    edit = (b"fourth()\n", b"fourth()\n}\n\n")
    assert carried(lane, "pull", {C: below}, {C: below.replace(*edit)}, {C: moved}) == 0
    assert lane.read() == {C: moved.replace(*edit)}


CALLS = b"    check()\n    load()\n    store()\n"
CALLED = CALLS.replace(b"load()", b"load(1)")
LONGER = CALLS.replace(b"load()", b"load()\n    more()")
SHORTER = CALLS.replace(b"    load()\n", b"")
LOG = b"    log()\n"


def run(*blocks: bytes) -> bytes:
    """A function of blocks that may be equal."""
    return b"".join([b"def f():\n    begin()\n", *blocks, b"    end()\n"])


# What upstream made of the two equal blocks between which a line is inserted.
ONE_EDITED = [pair for new in (CALLED, LONGER, SHORTER) for pair in ((new, CALLS), (CALLS, new))]


@pytest.mark.parametrize("kind", KINDS)
def test_twin_blocks_of_which_upstream_edited_one_tell_what_is_between(
    lane: Lane, kind: Kind
) -> None:
    pins = {f"vllm/run_{number}.py": pair for number, pair in enumerate(ONE_EDITED)}
    base, patched = run(CALLS, CALLS), run(CALLS, LOG, CALLS)
    pin = {path: run(*pair) for path, pair in pins.items()}
    assert carried(lane, kind, dict.fromkeys(pins, base), dict.fromkeys(pins, patched), pin) == 0
    assert lane.read() == {path: run(above, LOG, below) for path, (above, below) in pins.items()}


@pytest.mark.parametrize(
    ("upstream", "above"),
    [([CALLS] * 4, 1), ([CALLS] * 3 + [CALLED], 1), ([CALLED] + [CALLS] * 3, 2)],
    ids=["one more", "one more, last edited", "one more, first edited"],
)
def test_twin_blocks_with_one_more_ask_a_person(
    lane: Lane, upstream: list[bytes], above: int
) -> None:
    patched = run(*[CALLS] * above, LOG, *[CALLS] * (3 - above))
    before = {FILE: run(*[CALLS] * 3)}
    assert carried(lane, "pull", before, {FILE: patched}, {FILE: run(*upstream)}) == 3
    assert lane.outcomes() == ["conflict"]


LINES = b"".join(b"line_%d = 0\n" % number for number in range(40))
EDITS = {
    1: (b"line_3 = 0\n", b"line_3 = 1\nadded_1 = 0\nadded_2 = 0\n"),
    2: (b"line_18 = 0\nline_19 = 0\n", b""),
    3: (b"line_35 = 0\n", b"line_35 = 3\nadded_3 = 0\n"),
}
SUBSETS = [each for size in (1, 2, 3) for each in combinations(EDITS, size)]


def edited(numbers: tuple[int, ...]) -> bytes:
    text = LINES
    for number in numbers:
        text = text.replace(*EDITS[number])
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_subset_shifts(lane: Lane, kind: Kind) -> None:
    assert carried(lane, kind, {FILE: LINES}, {FILE: edited((1, 2, 3))}, {FILE: LINES}) == 0
    assert lane.read() == {FILE: edited((1, 2, 3))}
    ids = [hunk.id for hunk in lane.hunks()]
    text = lane.series.read_text()
    for subset in SUBSETS:
        lane.series.write_text(text)
        lane.select(*(f"{FILE}:{ids[number - 1]}" for number in subset))
        assert lane.read(lane.applied().lock.tree) == {FILE: edited(subset)}


ZERO = {
    "vllm/deleted.c": (b"a\nb\na\nb\na\nb\n", b"a\nb\nb\na\nb\n"),
    "vllm/inserted.c": (b"a\nb\n", b"a\na\nb\n"),
    "vllm/above.c": (b"b\n", b"a\nb\n"),
    "vllm/emptied.c": (b"a\n", b""),
    "vllm/filled.c": (b"", b"a\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_zero_context_is_put_at_its_line(lane: Lane, kind: Kind) -> None:
    before, after = ({path: each[side] for path, each in ZERO.items()} for side in (0, 1))
    first = lane.start(before)
    head = lane.pull(after, first)
    assert lane.carry(kind, first, head, flags=("-U0",)) == 0
    assert lane.read() == after


def test_zero_context_with_a_stale_start_number_is_refused(
    lane: Lane, capfd: pytest.CaptureFixture[str]
) -> None:
    first = lane.start({FILE: LINES})
    head = lane.pull({FILE: edited((2,))}, first)
    file = lane.patch(first, head, "-U0")
    assert b"@@ -19,2 +18,0 @@" in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(b"-19,2", b"-20,2"))
    lane.entry('patch = "own/hook.patch"')
    assert lane.run("build") == 1
    said = capfd.readouterr().err
    assert "vllm/x.py, hunk 1: does not match its base" in said
    assert "at line 20" in said


NORM = b"        self.norm(\n            x,\n        )\n"


@pytest.mark.parametrize("edited", [0, 1, 2], ids=["first", "middle", "last"])
@pytest.mark.parametrize("count", [2, 4], ids=["one less", "one more"])
def test_twin_blocks_inside_of_which_is_edited_ask_a_person_where_their_number_changed(
    lane: Lane, edited: int, count: int
) -> None:
    above, below = b"class A:\n    def g(self, x):\n        h0()\n", b"        t0()\n        t1()\n"
    blocks = [NORM] * 3
    blocks[edited] = NORM.replace(b"x,", b"x, eps=1,")
    base, theirs = (above + b"".join(each) + below for each in ([NORM] * 3, blocks))
    # What stands next to the run changed too, so that only one of its ends is as it was.
    ours = above + NORM * count + b"        up()\n" + below
    assert carried(lane, "pull", {FILE: base}, {FILE: theirs}, {FILE: ours}) == 3
    assert lane.outcomes() == ["conflict"]
