"""Three sides of a conflict: what each makes of the base is told by a sign."""

from lanewright.page.sides import MOST, Line, of_diff, three
from lanewright.report.model import Excerpt, ThreeSides

BASE = Excerpt(10, ["a", "b", "c"])


def texts(lines: object) -> list[str]:
    return [f"{each.sign}{each.text}" for each in lines]  # type: ignore[attr-defined]


def test_ours_and_theirs_are_against_the_base() -> None:
    sides = ThreeSides(BASE, Excerpt(12, ["a", "B", "c"]), Excerpt(10, ["a", "b", "c", "d"]))
    base, ours, theirs = three(sides, "x", "pr1")
    assert texts(base.lines) == [" a", " b", " c"]
    assert texts(ours.lines) == [" a", "-b", "+B", " c"]
    assert texts(theirs.lines) == [" a", " b", " c", "+d"]
    assert (ours.name, theirs.name) == ("ours: lane x", "theirs: pr1")
    assert [line.kind for line in ours.lines] == ["same", "removed", "added", "same"]


def test_a_side_may_lack_the_file_or_its_end() -> None:
    sides = ThreeSides(BASE, Excerpt(0, []), Excerpt(10, ["a"], unended=True))
    _, ours, theirs = three(sides, "x", "pr1")
    assert ours.where == "no such file"
    assert texts(ours.lines) == ["-a", "-b", "-c"]
    assert theirs.lines[-1] == Line("@", "no newline at the end of the file")


def test_long_sides_and_lines_are_cut_and_it_is_said() -> None:
    many = Excerpt(1, ["y" * 10_000] * (MOST + 7))
    _, ours, _ = three(ThreeSides(BASE, many, BASE), "x", "pr1")
    assert ours.lines[-1].text == "… 7 more lines are not shown"
    assert max(len(line.text) for line in ours.lines) < 300


def test_a_diff_keeps_its_signs() -> None:
    text = "@@ -1,2 +1,2 @@ def f():\n a\n-b\n+c\n\\ No newline at end of file\n"
    assert [line.sign for line in of_diff(text)] == ["@", " ", "-", "+", "\\"]
