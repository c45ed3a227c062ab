"""How the page looks and is used: sizes, themes, paper, keyboard, screen readers, notifications."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.project import CRANE, OTTER, Project
from tests.web.browser import SIZES, Tab, new_tab
from tests.web.busy_project import VOICES
from tests.web.server import ServerThread

# ruff: noqa: E501 - scripts for the browser
PLACES = ("now", "sessions", "decisions", "mail", "record", "search/currency")
DRAWERS = ("sessions/T-7.1", "decisions/decision%2Fq-1", "record/presence", f"agents/{OTTER}")
PAPER = {"dark": "rgb(21, 22, 25)", "light": "rgb(251, 250, 247)"}
# Elements that can be used and have no name that is read out.
NAMELESS = """() => [...document.querySelectorAll('button, a, input, select, textarea, img, progress,'
  + ' dialog[open], section, nav, table, [role]')]
  .filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel || e.labels?.length
    || e.hasAttribute('alt') || e.getAttribute('aria-labelledby')))
  .map(e => e.outerHTML)"""
# Text that the background swallows: the contrast of each piece of text with what is behind it.
FAINT = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c;
  } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.nodeValue.trim() || !e.checkVisibility() || e.closest('.hidden, .skip, :disabled')) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(`${e.outerHTML.slice(0, 80)} ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return faint;
}"""


@pytest.fixture
def tab(browser: Browser, server: ServerThread) -> Iterator[Tab]:
    made = new_tab(browser)
    made.open(server.address)
    yield made
    made.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_can_be_looked_at(
    browser: Browser, server: ServerThread, tmp_path: Path, size: str, theme: str
) -> None:
    tab = new_tab(browser, size, theme)
    tab.open(server.address)
    page = tab.page
    for place in (*PLACES, *DRAWERS):
        tab.visit(f"#/{place}")
        page.wait_for_selector("#drawer[open] .inside" if place in DRAWERS else "main h1")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= SIZES[size][0], place
        assert page.evaluate("document.querySelector('#drawer').scrollWidth") <= SIZES[size][0]
        assert page.evaluate(FAINT) == [], place
        page.screenshot(path=str(tmp_path / f"{place.replace('/', '-')}.png"))
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == PAPER[theme]
    assert tab.errors == []
    tab.close()


@pytest.mark.requirement("PAG-014")
def test_the_keyboard_reaches_everything(tab: Tab) -> None:
    page = tab.page
    for key, title in (("2", "Sessions"), ("3", "Decisions"), ("4", "Mail"), ("1", "Now")):
        page.keyboard.press(key)
        page.wait_for_function("t => document.querySelector('h1')?.textContent === t", arg=title)
        assert page.locator("nav a[aria-current=page]").inner_text() == title
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    assert "search" in page.locator("#help").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.locator("article.card").first.wait_for()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.tagName") == "A"
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer[open] .thread")
    assert page.evaluate("document.activeElement.closest('#drawer') !== null"), "focus is within"
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer:not([open])", state="attached")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "words"
    page.keyboard.type("currency")
    page.keyboard.press("Enter")
    tab.see("Which currency table?")
    page.locator("body").press("Tab")
    for _ in range(3):
        page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none", "one sees where one is"


@pytest.mark.requirement("PAG-014")
def test_everything_has_a_name_for_a_screen_reader(tab: Tab) -> None:
    page = tab.page
    for place in (*PLACES, *DRAWERS):
        tab.visit(f"#/{place}")
        assert page.evaluate(NAMELESS) == [], place
        levels = page.locator("main h1, main h2, main h3").evaluate_all(
            "all => all.map(e => Number(e.localName[1]))"
        )
        assert levels[0] == 1
        assert all(b - a <= 2 for a, b in pairwise(levels))
    assert page.locator("[aria-live]").count() >= 2
    assert page.get_by_role("dialog", name=OTTER).is_visible()
    tab.visit("#/now")
    names = [link.inner_text() for link in page.get_by_role("navigation").get_by_role("link").all()]
    assert names == ["Now", "Sessions", "Decisions", "Mail", "Record"]


def test_nothing_moves_for_those_who_want_no_motion(browser: Browser, server: ServerThread) -> None:
    animations = "document.getAnimations().length"
    for motion, least in (("reduce", 0), ("no-preference", 1)):
        tab = new_tab(browser, reduced_motion=motion)
        tab.open(server.address)
        tab.page.evaluate(
            "new MutationObserver(() => { window.moved = (window.moved || 0)"
            " + document.getAnimations().length })"
            ".observe(document.querySelector('#drawer'), {attributes: true})"
        )
        tab.go("#/sessions/T-7.1")
        tab.page.wait_for_selector("#drawer[open] .thread")
        moved = tab.page.evaluate(f"(window.moved || 0) + {animations}")
        assert (moved > 0) == (least > 0), motion
        tab.close()


def test_on_paper_there_is_text_and_nothing_to_press(
    browser: Browser, server: ServerThread
) -> None:
    tab = new_tab(browser, theme="dark")
    tab.open(server.address)
    tab.visit("#/sessions")
    page = tab.page
    page.emulate_media(media="print", color_scheme="dark")
    for gone in (".top", ".filters", ".foot", "button"):
        assert not page.locator(gone).first.is_visible(), gone
    assert page.locator("article.card").first.is_visible()
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(29, 28, 26)", "dark on white, whatever the screen is"
    assert page.pdf().startswith(b"%PDF")
    tab.close()


def _spy_on_notices(page: Page) -> None:
    """Notes every notification, and lets a test say that the tab is hidden."""
    page.add_init_script("""
      window.notices = [];
      const Real = window.Notification;
      window.Notification = class extends Real {
        constructor(title, more) { super(title, more); window.notices.push(`${title}: ${more.body}`); }
      };
      Object.defineProperty(document, 'hidden', { get: () => window.isAway === true });
    """)


def test_anyone_who_wants_it_is_notified_of_what_waits_and_nobody_else(
    browser: Browser, server: ServerThread, lively: Project
) -> None:
    tab = new_tab(browser, permissions=["notifications"])
    page = tab.page
    _spy_on_notices(page)
    tab.open(server.address)
    tab.visit("#/sessions")
    away = "window.isAway = true; document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(away)
    page.wait_for_selector("#standing[data-state=paused]")
    assert "as of" in page.locator("#standing").inner_text(), "what is old does not look new"
    page.evaluate(away.replace("true", "false"))
    tab.wait_until_live()
    switch = page.get_by_role("button", name="Notify me")
    assert switch.get_attribute("aria-pressed") == "false"
    switch.click()
    page.get_by_role("button", name="Notifications are on").wait_for()
    lively.ok("--as", OTTER, "send", CRANE, "INFO: which waits for no person")
    tab.visit("#/sessions")
    page.evaluate(away)
    assert page.evaluate("window.notices") == []
    options = ("--option", "Now", "--option", "Later")
    lively.ok("ask", "Do we ship on Friday?", *options, *VOICES)
    page.wait_for_function("() => window.notices.length > 0")
    (notice,) = page.evaluate("window.notices")
    assert "Do we ship on Friday?" in notice
    assert "Do we ship on Friday?" in page.locator("#announcer").text_content()  # type: ignore[operator]
    assert tab.errors == []
    tab.close()


def test_the_first_paint_is_light(browser: Browser, server: ServerThread) -> None:
    tab = new_tab(browser)
    sizes: dict[str, int] = {}
    tab.page.on(
        "requestfinished",
        lambda request: sizes.__setitem__(request.url, request.sizes()["responseBodySize"]),
    )
    tab.open(server.address)
    scripts = {url: size for url, size in sizes.items() if url.endswith(".js")}
    assert scripts
    assert max(scripts.values()) <= 20_000
    assert sum(sizes.values()) <= 60_000, sizes
    tab.close()
