"""Lines with some of them replaced, held against a list."""

from hypothesis import given
from hypothesis import strategies as st

from lanewright.queue.merge.spliced import Spliced

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n"]), max_size=8)


@given(LINES, LINES, st.data())
def test_it_is_what_a_copy_would_be(
    lines: list[bytes], inside: list[bytes], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    copy = [*lines[:start], *inside, *lines[end:]]
    spliced = Spliced(lines, start, end, inside)
    assert list(spliced) == copy
    assert len(spliced) == len(copy)
    low, high = (data.draw(st.integers(-9, 20)) for _ in range(2))
    assert spliced[low:high] == copy[low:high]
    assert [spliced[at] for at in range(-len(copy), len(copy))] == copy + copy
