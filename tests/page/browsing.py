"""A headless Chromium without a network, and what a page asked for and said there."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Route

SECONDS = 10.0
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Tab:
    """A page that is open.

    Attributes:
        page: Playwright's.
        asked: Addresses of all that it asked for, itself first.
        refused: Those that are not of files.
        said: What came to its console, errors that nothing caught, and dialogs.
    """

    page: "Page"
    asked: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def refuse(self, route: "Route") -> None:
        self.refused.append(route.request.url)
        route.abort()

    def close(self, dialog: "Dialog") -> None:
        self.said.append(dialog.message)
        dialog.dismiss()

    def wait_until(self, script: str) -> None:
        """Wait for an expression to hold; a page's policy forbids what Playwright itself waits by."""
        deadline = time.monotonic() + SECONDS
        while not self.page.evaluate(script):
            assert time.monotonic() < deadline, script
            self.page.wait_for_timeout(20)


@contextmanager
def chromium() -> Iterator["Browser"]:
    """One for many pages; skips where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: nox -s browser")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: "Browser", file: Path, *, dark: bool = False, width: int = 1280, printed: bool = False
) -> Iterator[Tab]:
    """A page in a profile of its own."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        offline=True,
    )
    try:
        tab = Tab(context.new_page())
        tab.page.on("request", lambda request: tab.asked.append(request.url))
        tab.page.on("console", lambda message: tab.said.append(message.text))
        tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.page.on("dialog", tab.close)
        tab.page.route(lambda url: not url.startswith("file:"), tab.refuse)
        tab.page.emulate_media(media="print" if printed else "screen")
        tab.page.goto(file.as_uri())
        yield tab
    finally:
        context.close()
