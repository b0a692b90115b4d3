"""Pages in Chromium: what others write is text, and a reader gets at all of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lanewright.history.taking_in import take_in
from lanewright.page.making import write_page
from lanewright.places import Places
from tests.page.browsing import chromium, opened
from tests.page.conftest import bare_project
from tests.page.hostile import LANES, NUMBER, QUOTES, SCRIPT, lay_nights

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

NEWEST, PRUNED = "nights/20261209T001504Z", "nights/20261201T001504Z"
# One of each kind: a lane's nights are one that failed, one without its hardware, one long gone.
KINDS = {
    "index": "index.html",
    "night": f"{NEWEST}/index.html",
    "failed": f"{NEWEST}/lane-{LANES[1]}.html",
    "not run": f"{NEWEST}/lane-{LANES[2]}.html",
    "pruned": f"{PRUNED}/lane-{LANES[0]}.html",
    "pull": f"pulls/{NUMBER}.html",
}
A4 = 794  # CSS pixels
PHONE = 360
OPEN_ALL = "for (const each of document.querySelectorAll('details')) each.open = true"
# What Tab comes to, in order, each as it is when it has the focus; ends where it comes round.
STOPS = "a[href], summary, [tabindex='0']"
LOOKS = """() => {
  const on = document.activeElement, style = getComputedStyle(on), box = on.getBoundingClientRect();
  return {
    place: [...document.querySelectorAll(STOPS)].indexOf(on),
    ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    seen: box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0,
  };
}""".replace("STOPS", f'"{STOPS}"')


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of nights whose every text is meant to break one; of the oldest the history alone tells."""
    root = tmp_path_factory.mktemp("site")
    places = Places(root / "store", root / "state")
    lay_nights(places)
    take_in(places)
    shutil.rmtree(places.state / PRUNED)
    for run in places.state.glob("runs/*/20261201T001504Z-*"):
        shutil.rmtree(run)
    return write_page(bare_project(root / "bare"), places, root / "page").folder


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched_run_or_complained_of(browser: "Browser", site: Path, kind: str) -> None:
    with opened(browser, site / KINDS[kind]) as tab:
        tab.page.evaluate(OPEN_ALL)
        tab.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        tab.wait_until("[...document.images].every((each) => each.complete)")
        assert tab.refused == []
        assert tab.said == []
        assert tab.asked[0] == (site / KINDS[kind]).as_uri()
        assert f"{site.as_uri()}/page.css" in tab.asked
        assert all(address.startswith(f"{site.as_uri()}/") for address in tab.asked)
        for selector in ("script", "img[onerror]", "iframe", "object", "form", "[onmouseover]"):
            assert tab.page.locator(selector).count() == 0


def test_a_title_with_a_script_is_text(browser: "Browser", site: Path) -> None:
    with opened(browser, site / KINDS["pull"]) as tab:
        assert SCRIPT in tab.page.locator("h1").inner_text()
        assert tab.page.get_by_role("link", name="page").get_attribute("href") == (
            f"https://github.com/vllm-project/vllm/pull/{NUMBER}"
        )
        assert tab.said == []
    with opened(browser, site / "index.html") as tab:
        assert SCRIPT in tab.page.locator("table.pulls").inner_text()
        assert tab.said == []


def test_a_path_with_quotes_is_text(browser: "Browser", site: Path) -> None:
    with opened(browser, site / KINDS["pull"]) as tab:
        assert tab.page.get_by_role("heading", name=f"vllm/{QUOTES} in ").first.is_visible()
    with opened(browser, site / KINDS["failed"]) as tab:
        assert QUOTES in tab.page.locator(".culprit").inner_text()


def test_what_failed_leads_to_its_hunk_and_report(browser: "Browser", site: Path) -> None:
    with opened(browser, site / "index.html") as tab:
        box = tab.page.locator(".trouble.bad").bounding_box()
        # Without scrolling.
        assert box
        assert box["y"] + box["height"] < 800
        tab.page.locator(".culprit a").click()
        assert tab.page.url == f"{site.as_uri()}/{KINDS['failed']}#bisect"
        assert tab.page.locator(".line.added").first.is_visible()
        tab.page.go_back()
        tab.page.get_by_role("link", name=f"Report of {LANES[1]}").click()
        assert tab.page.locator("#carried").is_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_fault(browser: "Browser", site: Path, kind: str, *, dark: bool) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="nox -s browser")
    with opened(browser, site / KINDS[kind], dark=dark) as tab:
        tab.page.evaluate(OPEN_ALL)
        # Preloading would ask for the style sheet once more; in the dark only colours are others.
        options: dict[str, Any] = {"preload": False}
        if dark:
            options["runOnly"] = ["color-contrast"]
        found = axe.Axe().run(tab.page, options=options)
        assert found.response["passes"]
        assert [(each["id"], each["nodes"]) for each in found.response["violations"]] == []
        assert tab.said == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_keyboard_gets_everywhere(browser: "Browser", site: Path, kind: str) -> None:
    with opened(browser, site / KINDS[kind]) as tab:
        many = tab.page.evaluate(
            f'() => [...document.querySelectorAll("{STOPS}")]'
            ".filter((each) => each.checkVisibility()).length"
        )
        places = []
        for _ in range(many):
            tab.page.keyboard.press("Tab")
            stop = tab.page.evaluate(LOOKS)
            assert stop["ring"], stop
            assert stop["seen"], stop
            places.append(stop["place"])
        assert places == sorted(set(places))
        assert len(places) == many
        assert -1 not in places


def test_the_first_stop_skips_to_the_content(browser: "Browser", site: Path) -> None:
    with opened(browser, site / KINDS["failed"]) as tab:
        tab.page.keyboard.press("Tab")
        link = tab.page.locator(":focus")
        assert link.inner_text() == "Skip to the content"
        box = link.bounding_box()
        assert box
        assert box["x"] >= 0
        tab.page.keyboard.press("Enter")
        assert tab.page.evaluate("document.activeElement.id") == "main"
        tab.page.keyboard.press("Tab")
        assert tab.page.evaluate("document.activeElement.closest('main') !== null")


def test_what_is_folded_opens_by_a_key(browser: "Browser", site: Path) -> None:
    with opened(browser, site / "index.html") as tab:
        folded = tab.page.locator("details.key")
        assert not folded.locator("dl").is_visible()
        folded.locator("summary").focus()
        tab.page.keyboard.press("Enter")
        assert folded.locator("dl").is_visible()


def test_an_overlays_files_are_one_line_until_it_is_opened(browser: "Browser", site: Path) -> None:
    with opened(browser, site / KINDS["failed"]) as tab:
        entry = tab.page.locator("details.entry", has=tab.page.locator("details.laid"))
        summary, files = entry.locator("details.laid > summary"), entry.locator("ul.files")
        entry.locator("> summary").click()
        assert summary.inner_text().startswith("/: 3 files, expert_bank: 3 files")
        assert not files.is_visible()
        summary.focus()
        tab.page.keyboard.press("Enter")
        assert files.is_visible()
        assert files.locator("li").count() == 6
        assert QUOTES in files.inner_text()


def test_wide_tables_scroll_by_keys(browser: "Browser", site: Path) -> None:
    with opened(browser, site / KINDS["night"], width=PHONE) as tab:
        table = tab.page.locator(".wide").first
        table.focus()
        tab.page.keyboard.press("ArrowRight")
        tab.wait_until("document.querySelector('.wide').scrollLeft > 0")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wider_than_a_phone(browser: "Browser", site: Path, kind: str) -> None:
    with opened(browser, site / KINDS[kind], width=PHONE) as tab:
        tab.page.evaluate(OPEN_ALL)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= PHONE


@pytest.mark.parametrize("kind", KINDS)
def test_all_of_it_is_printed(browser: "Browser", site: Path, kind: str) -> None:
    with opened(browser, site / KINDS[kind], width=A4, printed=True, dark=True) as tab:
        assert not tab.page.locator("nav").is_visible()
        folded = tab.page.locator("details:not([open]) > :not(summary)")
        assert all(each.is_visible() for each in folded.all())
        assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        shown = "[...document.images].map((each) => each.complete && each.naturalWidth > 0)"
        assert all(tab.page.evaluate(shown))
        assert tab.page.pdf(format="A4").startswith(b"%PDF-")
