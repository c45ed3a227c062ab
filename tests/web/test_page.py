"""The page in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.project import CRANE, OTTER, Project, make_project
from tests.web.browser import Tab, new_tab
from tests.web.busy_project import FINCH
from tests.web.server import ServerThread


@pytest.fixture
def tab(browser: Browser, server: ServerThread) -> Iterator[Tab]:
    made = new_tab(browser)
    made.open(server.address)
    yield made
    made.page.context.close()


@pytest.mark.requirement("PAG-006")
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
    assert labels == ["Refused", "Passed to"]
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


@pytest.mark.requirement("PAG-008")
def test_the_first_screen_says_what_waits_for_the_person(tab: Tab) -> None:
    page = tab.page
    waiting = page.locator("section[aria-labelledby=h-mine]")
    waiting.get_by_text("Queue: Postgres or Kafka?").first.wait_for()
    assert "moot decide q-1" in waiting.inner_text()
    assert OTTER in page.locator("section[aria-labelledby=h-agents]").inner_text()
    assert "Refused" in page.locator("section[aria-labelledby=h-overlaps]").inner_text()
    page.get_by_role("button", name="Check now").click()
    page.locator("section[aria-labelledby=h-record]").get_by_text("INTACT").wait_for()
    assert tab.errors == []


@pytest.mark.requirement("PAG-007")
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


def test_all_tabs_of_a_browser_share_one_connection_for_live_events(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path, OTTER, CRANE)
    server = ServerThread(project)
    tab = new_tab(browser)
    try:
        tab.open(server.address)
        other = Tab(tab.page.context.new_page())
        other.open(tab.page.url + "#/mail")
        assert len(server.listeners) == 1
        project.ok("--as", OTTER, "send", CRANE, "INFO: to both tabs")
        other.see("to both tabs")
        assert len(server.listeners) == 1
        tab.page.close()
        other.wait_until_live()
        project.ok("--as", OTTER, "send", CRANE, "INFO: to the one that is left")
        other.see("to the one that is left")
    finally:
        tab.close()
        server.stop()


def test_anyone_who_leaves_sees_nothing_until_they_enter_again(
    browser: Browser, server: ServerThread
) -> None:
    tab = new_tab(browser)
    tab.open(server.address)
    page = tab.page
    page.get_by_role("button", name="Leave").click()
    page.wait_for_selector("#standing[data-state=closed]")
    tab.see("moot serve", "#notice")
    assert OTTER not in page.locator("body").inner_text()
    page.reload()
    page.wait_for_selector("#standing[data-state=closed]")
    assert OTTER not in page.locator("body").inner_text()
    tab.open(server.address)
    tab.see(OTTER)
    tab.close()
