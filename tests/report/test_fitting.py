"""What has no room is left out whole, and told."""

from lanewright.report.fitting import Section, fitted

REST = [Section("a", ("A" * 200, "a")), Section("b", ("B" * 400,)), Section("c", ("C" * 30,))]


def test_all_of_it_where_it_fits() -> None:
    made = fitted("head\n", REST, 900, "see there")
    assert made == f"head\n\n{'A' * 200}\n\n{'B' * 400}\n\n{'C' * 30}\n"


def test_the_rest_is_told() -> None:
    made = fitted("head\n", REST, 250, "see there")
    told = "_Left out, for want of room: parts of a, b: see there._"
    assert made == f"head\n\na\n\n{'C' * 30}\n\n{told}\n"


def test_a_head_that_is_too_long_loses_whole_lines() -> None:
    head = "".join(f"line {number:03}\n" for number in range(100))
    made = fitted(head, [], 200, "see there")
    assert len(made) <= 200
    kept = made.count("line ")
    assert made.startswith(head[: 9 * kept])
    assert kept > 10
    assert made.endswith(f"_{101 - kept} more lines had no room: see there._\n")


def test_bytes_count_and_not_characters() -> None:
    head = "".join("\u2705 x\n" for _ in range(1000))
    made = fitted(head, REST, 1000, "see there")
    assert 900 < len(made.encode()) <= 1000
