"""The page in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from moot.core.clock import MINUTE, system_clock, to_text
from tests.cli.project import Project
from tests.web.browser import Tab, chromium
from tests.web.lively import CRANE, FINCH, OTTER, make_lively
from tests.web.served import ServerThread, make_project

HOSTILE = (
    "</script><script>window.hit=1</script>",
    "<img src=x onerror='window.hit=1'>",
    "<svg onload='window.hit=1'><a href='javascript:window.hit=1'>x</a></svg>",
    "\u202egnirts\u202c \u2066x\u2069 javascript:window.hit=1",
    "{{constructor.constructor('window.hit=1')()}} ${window.hit=1}",
)
SIZES = {"wide": (1200, 900), "narrow": (360, 780)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("lively"))
    make_lively(project)
    return project


@pytest.fixture(scope="module")
def server(lively: Project) -> Iterator[ServerThread]:
    running = ServerThread(lively)
    yield running
    running.stop()


def new_tab(browser: Browser, size: str = "wide", theme: str = "light") -> Tab:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    return Tab(context.new_page())


@pytest.fixture
def tab(browser: Browser, server: ServerThread) -> Iterator[Tab]:
    made = new_tab(browser)
    made.open(server.address)
    yield made
    made.page.context.close()


@pytest.mark.requirement("OPR-090")
def test_cards_feed_and_drawer_are_shown_and_nothing_comes_from_elsewhere(
    tab: Tab, server: ServerThread
) -> None:
    page = tab.page
    assert page.url == server.address.partition("/enter")[0] + "/", "the token left the address"
    assert page.evaluate("document.cookie") == "", "no script reads the first half"
    tab.go("#/sessions")
    cards = page.locator("article.card")
    cards.first.wait_for()
    assert {"T-7.1", "T-7.2"} <= set(page.locator("article.card h3").all_inner_texts())
    assert page.locator("article.card [data-liveness=active]").count() >= 2
    page.locator("article.card[data-work='T-7.1'] a", has_text="Conversation").click()
    page.wait_for_selector("#drawer[open] .thread")
    labels = page.locator("#drawer .thread .badge:first-child").all_inner_texts()
    assert labels == ["Held back", "Passed to"]
    kinds = page.locator("#drawer .thread li").evaluate_all("rows => rows.map(r => r.dataset.kind)")
    assert kinds == ["INCURSION", "HANDOFF"]
    text = page.locator("#drawer").inner_text()
    assert not re.search("INCURSION|HANDOFF|RESUME|BLOCKED", text), "people read labels"
    assert "Finish tests/test_cache.py" in text
    assert f"waits for {CRANE}" in text
    page.keyboard.press("Escape")
    page.wait_for_selector("#drawer:not([open])", state="attached")
    assert tab.hosts == {page.url.split("/")[2]}
    assert tab.errors == []


def test_the_first_screen_says_what_waits_for_the_person(tab: Tab) -> None:
    page = tab.page
    waiting = page.locator("section[aria-labelledby=h-mine]")
    waiting.get_by_text("Queue: Postgres or Kafka?").first.wait_for()
    assert "moot decide q-1" in waiting.inner_text()
    assert OTTER in page.locator("section[aria-labelledby=h-agents]").inner_text()
    assert "Held back" in page.locator("section[aria-labelledby=h-overlaps]").inner_text()
    page.get_by_role("button", name="Check now").click()
    page.locator("section[aria-labelledby=h-record]").get_by_text("INTACT").wait_for()
    assert tab.errors == []


@pytest.mark.requirement("OPR-096")
def test_what_another_process_does_appears_without_a_reload(tab: Tab, lively: Project) -> None:
    page = tab.page
    page.evaluate("window.stays = 1")
    before = time.monotonic()
    lively.ok("--as", FINCH, "send", OTTER, f"QUESTION: Is number {before} seen?")
    tab.go("#/mail")
    tab.see(f"number {before}")
    lively.ok("--as", FINCH, "send", OTTER, "INFO: the second one")
    tab.see("the second one")
    assert page.evaluate("window.stays") == 1


def test_scroll_focus_and_selection_stay_when_something_changes(tab: Tab, lively: Project) -> None:
    page = tab.page
    tab.go("#/record")
    page.locator("section[aria-labelledby=h-histories] tbody a").first.wait_for()
    page.get_by_role("link", name="presence").focus()
    page.evaluate("window.scrollTo(0, 120)")
    page.evaluate("document.activeElement.mark = 1")
    lively.ok("--as", OTTER, "send", CRANE, "INFO: for the record", "--thread", "fresh-thread")
    tab.see("mail/fresh-thread")
    assert page.evaluate("document.activeElement.mark") == 1
    assert page.evaluate("document.activeElement.textContent") == "presence"
    assert page.evaluate("window.scrollY") == 120


def test_a_decision_is_shown_with_its_report_its_text_and_no_field_for_a_passphrase(
    tab: Tab,
) -> None:
    page = tab.page
    tab.go("#/decisions/decision%2Fq-1")
    page.wait_for_selector("#drawer[open] .asked")
    assert "44368adad746bc27c3f1133f81ad8938a444ddb3789a3f15bce4544bc1459801" in (
        page.locator("#drawer .asked").inner_text()
    )
    page.wait_for_function(
        "document.querySelector('#drawer .report')?.shadowRoot?.querySelectorAll('svg').length > 0"
    )
    for place in ("#/now", "#/sessions", "#/decisions", "#/mail", "#/record", "#/search/x"):
        tab.go(place)
        page.wait_for_timeout(100)
        fields = page.locator("input, textarea").evaluate_all("all => all.map(e => e.type)")
        assert "password" not in fields
    assert tab.errors == []


def test_a_deep_link_opens_in_a_new_tab_of_the_same_browser(tab: Tab) -> None:
    other = Tab(tab.page.context.new_page())
    other.page.goto(tab.page.url + "#/sessions/T-7.2")
    other.page.wait_for_selector("#drawer[open] .thread")
    other.see("Which currency table?", "#drawer")
    lonely = tab.page.context.browser
    assert lonely is not None
    stranger = Tab(lonely.new_context().new_page())
    stranger.page.goto(tab.page.url + "#/sessions/T-7.2")
    stranger.see("moot serve", "#notice")
    assert stranger.page.locator("article").count() == 0
    stranger.page.context.close()


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
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "words"
    page.keyboard.type("currency")
    page.keyboard.press("Enter")
    tab.see("Which currency table?")


def test_everything_has_a_name_for_a_screen_reader(tab: Tab) -> None:
    page = tab.page
    for place in ("#/now", "#/sessions", "#/decisions", "#/mail", "#/record"):
        tab.go(place)
        page.wait_for_timeout(150)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, a, input, select, textarea, img')]
            .filter(e => e.checkVisibility() && !(e.textContent.trim() || e.ariaLabel
              || e.labels?.length || e.hasAttribute('alt') || e.placeholder))
            .map(e => e.outerHTML)"""
        )
        assert nameless == [], place
        levels = page.locator("main h1, main h2, main h3").evaluate_all(
            "all => all.map(e => Number(e.localName[1]))"
        )
        assert levels[0] == 1
        assert all(b - a <= 2 for a, b in pairwise(levels))
    assert page.locator("[aria-live]").count() >= 2


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_can_be_looked_at(
    browser: Browser, server: ServerThread, tmp_path: Path, size: str, theme: str
) -> None:
    tab = new_tab(browser, size, theme)
    tab.open(server.address)
    for place in ("now", "sessions", "sessions/T-7.1", "decisions", "mail", "record"):
        tab.go(f"#/{place}")
        tab.page.wait_for_timeout(150)
        wide = tab.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= SIZES[size][0], place
        tab.page.screenshot(path=str(tmp_path / f"{place.replace('/', '-')}.png"))
    paper = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(21, 22, 25)" if theme == "dark" else "rgb(251, 250, 247)")
    assert tab.errors == []
    tab.page.context.close()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(browser: Browser, tmp_path: Path, text: str) -> None:
    project = make_project(tmp_path)
    project.ok(
        *("--as", OTTER, "handoff", CRANE, "--work", "T-7", "--scope", "src"),
        *("--subject", text, "--summary", text + "y" * 7_000, "--next-action", text),
    )
    body = tmp_path / "body.md"
    body.write_text(f"{text}\n{'z' * 65_000}\n", encoding="utf-8")
    subject = text if text.isprintable() else "marks"  # mail takes none in a subject
    words = ("send", CRANE, f"INFO: {subject}", str(body), "--thread", "hostile")
    project.ok("--as", OTTER, *words)
    running = ServerThread(project)
    tab = new_tab(browser, "narrow")
    try:
        tab.open(running.address)
        message = "hostile:1"
        for place in (
            "now",
            "sessions",
            "sessions/T-7",
            "mail",
            f"mail/{message}",
            "record",
            "record/presence",
        ):
            tab.go(f"#/{place}")
            tab.page.wait_for_timeout(120)
            assert tab.page.evaluate("window.hit") is None, place
            assert tab.page.locator("main img, main script, dialog img, dialog script").count() == 0
            hrefs = tab.page.locator("a").evaluate_all(
                "all => all.map(a => a.getAttribute('href'))"
            )
            assert all(href is None or href.startswith("#") for href in hrefs)
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= SIZES["narrow"][0]
        assert tab.errors == []
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", tab.page.locator("body").inner_text())
    finally:
        tab.page.context.close()
        running.stop()


def test_a_badge_turns_when_its_agent_goes_quiet(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    begun = to_text(system_clock() - 20 * MINUTE)
    project = Project(tmp_path / "project", tmp_path / "keys", MOOT_CLOCK=begun)
    project.ok("init")
    project.ok("agent", "register", OTTER)
    project.ok("--as", OTTER, "reserve", "src", "--work", "T-1")
    tab = new_tab(browser)
    for clock, liveness in ((begun, "active"), (to_text(system_clock()), "stale")):
        project.env["MOOT_CLOCK"] = clock
        running = ServerThread(project)
        tab.open(running.address)
        tab.go("#/sessions")
        tab.page.wait_for_selector(f"article.card [data-liveness={liveness}]")
        running.stop()
    tab.page.context.close()


def test_the_page_says_that_the_server_is_gone_and_comes_back(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path)
    running = ServerThread(project)
    tab = new_tab(browser)
    tab.open(running.address)
    port = int(running.address.split(":")[2].split("/")[0])
    running.stop()
    tab.page.wait_for_selector("#standing[data-state=reconnecting]")
    assert "as of" in tab.page.locator("#standing").inner_text()
    again = ServerThread(project, port)
    try:
        tab.page.wait_for_selector("#standing[data-state=closed]")
        tab.see("moot serve", "#notice")
        tab.open(again.address)
    finally:
        again.stop()
        tab.page.context.close()


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
    tab.page.context.close()
