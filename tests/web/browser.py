"""A real Chromium, driven by playwright: found on this machine, or the tests are left out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# No sandbox within a container's; and nothing that asks other hosts by itself.
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PATIENCE = 60_000


def find_chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine: the page was not looked at in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


SIZES = {"wide": (1280, 900), "narrow": (360, 780)}


def new_tab(browser: Browser, size: str = "wide", theme: str = "light", **more: Any) -> Tab:
    """A tab of a browser that nobody else has used."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        **{"reduced_motion": "reduce", **more},
    )
    return Tab(context.new_page())


class Tab:
    """A page with what went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.hosts: set[str] = set()
        self.bytes = 0
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self._note(line.type, line.text))
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.errors.append(text)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.wait_until_live()

    def close(self) -> None:
        self.page.context.close()

    def wait_until_live(self) -> None:
        self.page.wait_for_selector("#standing[data-state=live]")

    def go(self, place: str) -> None:
        self.page.evaluate("place => { location.hash = place }", place)

    def visit(self, place: str) -> None:
        """Go there, and wait until it is drawn."""
        self.go(place)
        self.page.wait_for_selector(f"body[data-place='{place}']")

    def see(self, text: str, inside: str = "body") -> None:
        self.page.locator(inside).get_by_text(text, exact=False).first.wait_for()


if __name__ == "__main__":
    if find_chromium() is None:
        print("no Chromium on this machine: the page was NOT looked at in a browser")  # noqa: T201
