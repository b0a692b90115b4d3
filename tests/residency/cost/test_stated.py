"""Every figure that the first user stated and that follows from something."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError
from lanewright.residency.cost.compared import Compared, compare
from lanewright.residency.cost.facts import facts
from lanewright.residency.cost.figures import load_figures
from lanewright.residency.cost.figures_told import figure_lines
from tests.residency.cost.lane import OLD, OTHER, OWN, STATED, estimated

FIGURES = load_figures(STATED)
FACTS = facts(estimated())
ROWS = compare(FIGURES, FACTS, STATED)
# What they were found to be instead, in the stated unit.
DIFFERENT = {
    "the SSD is so many times slower than C2C": [28.33, 34.0],
    "cold traffic that the usage map removed": [88.75],
    "tokens a second gained, eight users": [130.82],
    "tokens a second after, sixteen users, of those before": [2.4753],
    "chance that a guess is right": [0.015625],
    "counter, 6 tokens": [20.4],
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.place}: {row.says}")
def test_a_stated_figure_is_reproduced_or_told_why_not(row: Compared) -> None:
    if row.says in DIFFERENT:
        assert not row.reproduced
        assert row.computed == pytest.approx(DIFFERENT[row.says], rel=2e-4)
        assert len(row.why) > len("measured")
    else:
        assert row.reproduced, row
        assert not row.why


def test_no_figure_is_left_out() -> None:
    """41 of the 47 figures; what is no result of arithmetic is named, with what it is."""
    assert (len(ROWS), len(ROWS) - len(DIFFERENT)) == (47, 41)
    assert all(each.why for each in FIGURES.not_computed)
    assert {each.place for each in FIGURES.figure} >= {
        "figure 1", "figure 3", "figure 4", "figure 5", *(f"section {n}" for n in (1, 3, 5, 6, 7, 8, 9))
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "milliseconds", "percent"), [(OLD, 3.2, 22), (OWN, 0.36, 2.5), (OTHER, 2.7, 19)]
)
def test_cold_reads_of_a_token(name: str, milliseconds: float, percent: float) -> None:
    found = estimated().token[name]
    assert found.seconds * 1e3 == pytest.approx(milliseconds, rel=0.02)
    assert found.of_step == pytest.approx(percent / 100, rel=0.025)


def test_sizes() -> None:
    gib = {name: round(size / 2**30, 2) for name, size in FACTS["bytes"].items()}
    assert (gib["layer"], gib["experts"], gib["hot_bank"]) == (6.72, 268.8, 206.5)
    assert gib["cold_experts"] == 62.3
    assert FACTS["disk"]["room"] / 2**30 == pytest.approx(206.5 + 494, abs=0.005)
    assert not FACTS["disk"]["needed"]


def test_facts_are_json_and_keep_their_form() -> None:
    assert json.loads(json.dumps(FACTS)) == FACTS
    assert FACTS["schema"] == 1
    assert set(FACTS) == {
        "schema", "model", "bytes", "chance", "machine", "tiers", "token", "reading", "tokens_from", "steps",
        "slots", "copies", "cache", "disk", "fit", "counter",
    }  # fmt: skip


def test_figures_are_told_beside_each_other() -> None:
    told = list(figure_lines(FIGURES, ROWS))
    assert told[0].endswith("41 of 47 figures reproduced")
    (line,) = [each for each in told if "one expert over C2C" in each]
    assert re.search(r"55 us +55\.27 us +\+0\.5%$", line)
    (line,) = [each for each in told if "usage map removed" in each]
    assert "98 %" in line
    assert "88.75 %" in line
    assert "not reproduced: 2.7 of 24 %" in line
    assert told[-1].startswith("  section 8")


@pytest.mark.parametrize(
    ("stated", "computed", "to", "same"),
    [
        ("55 us", 55.4e-6, None, True),
        ("55 us", 55.5e-6, None, False),
        ("3.2 ms", 3.2499e-3, None, True),
        ("3.2 ms", 3.1499e-3, None, False),
        ("2.5 %", 0.02549, None, True),
        ("20 ms", 0.0212, "10", True),
        ("20 ms", 0.0212, None, False),
        ("1.6-1.9 ms", [1.56e-3, 1.88e-3], None, True),
        ("1.6-1.9 ms", [1.56e-3, 1.96e-3], None, False),
        ("11 ms", [10.1e-3, 12.2e-3], None, True),
        ("14 ms", [10.1e-3, 12.2e-3], None, False),
        ("15-20 %", 0.162, None, True),
        ("15-20 %", 0.21, None, False),
    ],
)
def test_a_figure_is_held_to_as_many_digits_as_it_has(
    tmp_path: Path, stated: str, computed: float, to: str | None, *, same: bool
) -> None:
    rounding = f'\nto = "{to}"' if to else ""
    file = _file(tmp_path, f'stated = "{stated}"\nof = ["a", "b"]{rounding}')
    (row,) = compare(load_figures(file), {"a": {"b": computed}}, file)
    assert row.reproduced is same


def test_the_difference_is_a_share_of_what_was_stated(tmp_path: Path) -> None:
    file = _file(tmp_path, 'stated = "50 us"\nof = ["a"]')
    (row,) = compare(load_figures(file), {"a": 60e-6}, file)
    assert row.difference == pytest.approx(0.2)
    file = _file(tmp_path, 'stated = "10-20 us"\nof = ["a"]')
    (row,) = compare(load_figures(file), {"a": [9e-6, 24e-6]}, file)
    assert row.difference == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('stated = "about 5"\nof = ["a"]', "is no figure"),
        ('stated = "5 parsecs"\nof = ["a"]', "is no figure"),
        ('stated = "1.2.3 ms"\nof = ["a"]', "is no figure"),
        ('stated = "5 ms"\nof = ["a"]\nto = "ten"', "is no figure"),
        ('stated = "5 ms"\nof = ["b"]', "nothing is computed at b"),
        ('stated = "5 ms"\nof = ["a", "b", "c"]', "nothing is computed at a / b / c"),
        ('stated = "5 ms"\nof = ["word"]', "nothing is computed at word"),
        ('stated = "5 ms"\nof = ["flag"]', "nothing is computed at flag"),
        ('stated = "5 ms"\nof = ["none"]', "nothing is computed at none"),
        ('stated = "5 ms"\nunit = "ms"\nof = ["a"]', "unknown field `unit`"),
        ("stated = 5\nof = []", "Expected `str`"),
    ],
)
def test_a_figure_that_says_nothing_is_refused(tmp_path: Path, lines: str, told: str) -> None:
    file = _file(tmp_path, lines)
    values: dict[str, Any] = {"a": 1.0, "word": "x", "flag": True, "none": None}
    with pytest.raises(LanewrightError, match=re.escape(told)) as error:
        compare(load_figures(file), values, file)
    assert str(file) in str(error.value)


def _file(folder: Path, lines: str) -> Path:
    file = folder / "figures.toml"
    file.write_text(f'source = "them"\n[[figure]]\nplace = "1"\nsays = "it"\n{lines}\n')
    return file
