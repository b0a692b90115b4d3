"""Nothing that others write becomes an element, an attribute or a link of a page."""

import json
import re
from pathlib import Path

import pytest

from lanewright.history.taking_in import take_in
from lanewright.invisible import UNSHOWN
from lanewright.page.links import Links
from lanewright.page.making import write_page
from lanewright.places import Places
from lanewright.project import Project
from tests.page.conftest import bare_project
from tests.page.hostile import BAD_URLS, GOOD_URL, HUGE, LANES, NUMBER, QUOTES, SCRIPT, lay_nights
from tests.page.reading import Element, everything, pages, read, targets

UPSTREAM = "https://github.com/vllm-project/vllm"
# All that our templates write.
ELEMENTS = """html head meta title link body a header nav ol ul li main footer section article
    h1 h2 h3 h4 h5 p dl dt dd table caption thead tbody tr th td details summary div span bdi code
    pre figure figcaption img ins del q br em"""
ATTRIBUTES = """lang charset http-equiv content name rel href class tabindex id aria-label
    aria-labelledby aria-hidden aria-current role scope rowspan src alt width height open"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read only: it is one for all of this file's tests."""
    root = tmp_path_factory.mktemp("hostile")
    places = Places(root / "store", root / "state")
    lay_nights(places)
    take_in(places)
    return write_page(bare_project(root / "bare"), places, root / "page").folder


def test_only_elements_and_attributes_of_ours(page: Path) -> None:
    found = pages(page)
    assert len(found) > 30
    for each in found:
        for element in everything(read(each)):
            assert element.name in ELEMENTS.split(), (each, element)
            assert element.attributes.keys() <= {*ATTRIBUTES.split()}, (each, element)


def test_it_is_all_there_as_text(page: Path) -> None:
    pull = read(page / "pulls" / f"{NUMBER}.html")
    (heading,) = pull.all("h1")
    assert SCRIPT in heading.text
    assert (
        "\\x1b[31mred\\x1b[0m \\u202eevil\\u2066 z\\u200bero \\U000e0041 {{ 7*7 }}" in heading.text
    )
    assert any(QUOTES in each.text for each in pull.all("h4"))
    lane = read(page / "nights/20261209T001504Z" / f"lane-{LANES[1]}.html")
    for text in (SCRIPT, QUOTES, "\\x1b[31mred"):
        assert text in lane.text


def test_nothing_steers_or_hides(page: Path) -> None:
    for each in (*pages(page), *page.rglob("*.svg")):
        text = each.read_bytes().decode("utf-8")
        assert not UNSHOWN.search(text), each


def test_huge_texts_are_cut_and_it_is_said(page: Path) -> None:
    for each in pages(page):
        assert HUGE[:25_000] not in each.read_text("utf-8")
        assert each.stat().st_size < 300_000
    pull = read(page / "pulls" / f"{NUMBER}.html")
    assert "more characters" in pull.text


def test_every_link_inside_leads_somewhere(page: Path) -> None:
    ids = {
        each: {e.attributes["id"] for e in everything(read(each)) if "id" in e.attributes}
        for each in pages(page)
    }
    for each in pages(page):
        for address, file, place in targets(each):
            assert not address.startswith("/")
            if file is None:
                assert address == "data:," or address.startswith(f"{UPSTREAM}/"), address
                continue
            assert file.is_file(), (each, address)
            assert file.resolve().is_relative_to(page.resolve())
            assert not place or place in ids[file.resolve()], (each, address)


def test_only_pages_of_upstream_are_links(page: Path) -> None:
    outside = {a for each in pages(page) for a, file, _ in targets(each) if file is None}
    assert outside == {"data:,", GOOD_URL, f"{UPSTREAM}/pull/{NUMBER}", f"{UPSTREAM}/pull/41474"}


@pytest.mark.parametrize("url", BAD_URLS)
def test_addresses_that_are_no_links(url: str) -> None:
    links = Links(UPSTREAM, frozenset())
    assert links.outside(GOOD_URL) == GOOD_URL
    assert links.outside(url) == ""


def test_without_an_upstream_there_are_no_links() -> None:
    links = Links("", frozenset())
    assert links.outside(GOOD_URL) == ""
    assert links.pull(NUMBER) == ""


def test_every_page_forbids_what_it_does_not_need(page: Path) -> None:
    for each in pages(page):
        metas = list(read(each).all("meta"))
        (policy,) = [
            m for m in metas if m.attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        content = policy.attributes["content"]
        assert content.startswith("default-src 'none'; style-src 'self'; img-src 'self' data:")
        # Before anything that it is to govern.
        assert metas.index(policy) == 1


def test_landmarks_headings_and_headers(page: Path) -> None:
    for each in pages(page):
        root = read(each)
        assert [html.attributes["lang"] for html in root.all("html")] == ["en"]
        for name in ("h1", "main", "header", "nav", "footer"):
            assert len(list(root.all(name))) == 1, (each, name)
        assert next(root.all("a")).attributes == {"class": "skip", "href": "#main"}
        assert all(th.attributes.get("scope") for th in root.all("th")), each
        assert all(img.attributes["alt"] for img in root.all("img"))
        ids = [e.attributes["id"] for e in everything(root) if "id" in e.attributes]
        assert len(ids) == len(set(ids)), each


def cell(page: Path, night: str, lane: str) -> Element:
    """Of the grid: its link is of this night and lane."""
    address = f"nights/{night}/lane-{lane}.html"
    (found,) = [
        td
        for td in read(page / "index.html").all("td")
        if any(a.attributes["href"] == address for a in td.all("a"))
    ]
    return found


@pytest.mark.parametrize(
    ("day", "lane", "word", "kind"),
    [
        (9, 0, "passed", "good"),
        (9, 1, "failed", "bad"),
        (9, 2, "not run", "amber"),
        (8, 1, "passed drift", "good"),
        (7, 2, "interrupted", "open"),
        (4, 1, "conflicts", "conflict"),
    ],
)
def test_a_cell_is_word_colour_and_mark(
    page: Path, day: int, lane: int, word: str, kind: str
) -> None:
    found = cell(page, f"202612{day:02}T001504Z", LANES[lane])
    assert found.attributes["class"] == f"cell {kind}"
    marks = [span.text for span in found.all("span") if "aria-hidden" in span.attributes]
    assert marks
    assert all(marks)
    words = re.sub(rf"[{''.join(marks)}]", " ", found.text.partition(":")[0]).split()
    assert " ".join(words) == word


def test_the_newest_night_is_first_and_in_a_sentence(page: Path) -> None:
    root = read(page / "index.html")
    rows = [next(row.all("a")).attributes["href"] for row in next(root.all("tbody")).all("tr")]
    assert rows == [f"nights/202612{day:02}T001504Z/index.html" for day in range(9, 0, -1)]
    lead = next(p.text for p in root.all("p") if p.attributes.get("class") == "lead")
    assert (
        lead == "✕ failed Newest, 2026-12-09 00:15 UTC: 1 of 3 lanes passed, 1 failed, 1 not run."
    )


def test_what_did_not_pass_is_named_at_the_top_with_its_cause(page: Path) -> None:
    root = read(page / "index.html")
    (troubles,) = [ul for ul in root.all("ul") if ul.attributes.get("class") == "troubles"]
    failed, missing = [li for li in troubles.all("li") if "trouble" in li.attributes["class"]]
    of = "nights/20261209T001504Z/lane-"
    assert failed.attributes["class"] == "trouble bad"
    assert failed.text.split()[:5] == ["✕", "failed", LANES[1], "at", "boot;"]
    links = {a.attributes["href"]: a.text for a in failed.all("a")}
    assert links[f"{of}{LANES[1]}.html#bisect"] == QUOTES
    assert links[f"{of}{LANES[1]}.html#carried"] == f"Report of {LANES[1]}"
    assert links[f"{of}{LANES[1]}.html#step-report"] == "report"
    assert SCRIPT in failed.text
    assert missing.attributes["class"] == "trouble amber"
    assert missing.text.split()[:5] == ["!", "not", "run", LANES[2], "at"]


def test_names_that_are_paths_are_not_followed(
    project: Project, hostile: Places, tmp_path: Path
) -> None:
    secret = "what nobody asked for"  # noqa: S105 - it is none
    (hostile.state / "secret").write_text(secret)
    file = hostile.state / "nights/20261209T001504Z/night.json"
    night = json.loads(file.read_text())
    for step in night["steps"]:
        step |= {"out": "../../secret", "log": "../../secret", "run": "../../.."}
    (link := file.parent / "link.log").symlink_to(hostile.state / "secret")
    night["steps"][5]["log"] = link.name
    file.write_text(json.dumps(night))
    page = write_page(project, hostile, tmp_path / "page").folder
    assert not any(secret in each.read_text("utf-8") for each in pages(page))


@pytest.mark.parametrize(
    "edit",
    [
        {"lanes": ["../x"]},
        {"name": "20261209T001504Z-2"},
        {"lanes": ["a", "<b>"]},
        {"schema": 2},
    ],
    ids=str,
)
def test_a_damaged_night_hides_no_other(
    project: Project, hostile: Places, tmp_path: Path, edit: dict[str, object]
) -> None:
    file = hostile.state / "nights/20261209T001504Z/night.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | edit))
    made = write_page(project, hostile, tmp_path / "page")
    assert (made.nights, [name for name, _ in made.damaged]) == (9, [file.parent.name])
    root = read(made.folder / "index.html")
    assert "Nights that cannot be read" in root.text
    # What the history knew of it before.
    assert "history only" in next(root.all("tbody")).text
    assert {each.relative_to(made.folder).parts[0] for each in pages(made.folder)} == {
        "index.html",
        "nights",
        "pulls",
    }


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": 1}', "\x00", "[" * 100_000])
def test_damaged_outputs_and_records_are_passed_over(
    project: Project, hostile: Places, tmp_path: Path, content: str
) -> None:
    for pattern in (
        "nights/20261209*/*.out",
        "runs/*/20261209*/record.json",
        "runs/*/20261209*/equality/*.json",
    ):
        for file in hostile.state.glob(pattern):
            file.write_text(content)
    made = write_page(project, hostile, tmp_path / "page")
    lane = read(made.folder / "nights/20261209T001504Z" / f"lane-{LANES[1]}.html")
    assert [h.text for h in lane.all("h2")] == [
        "Steps",
        "Equality ✕ differs",
        "Throughput",
        "Report: what became of what it carries",
    ]
