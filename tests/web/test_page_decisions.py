"""Decisions on the page while they are made: whose turn, the clock, the pictures of the reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.project import CRANE, OTTER, Project, make_project
from tests.web.browser import Tab, new_tab
from tests.web.busy_project import FINCH
from tests.web.busy_project_decisions import argue, say
from tests.web.server import ServerThread

PICTURES = "document.querySelector('#drawer .report').shadowRoot.querySelectorAll('svg').length"


@pytest.fixture
def argued(browser: Browser, tmp_path: Path) -> Iterator[tuple[Tab, Project, str]]:
    """A debate that goes on, in a drawer."""
    project = make_project(tmp_path, OTTER, CRANE)
    project.ok("agent", "register", FINCH)
    debate = argue(project)
    server, tab = ServerThread(project), new_tab(browser)
    tab.open(server.address)
    tab.visit(f"#/decisions/{debate.replace('/', '%2F')}")
    yield tab, project, debate
    tab.close()
    server.stop()


def standing(tab: Tab) -> str:
    return tab.page.locator("#drawer .standing-now").inner_text()


def test_a_debate_is_followed_as_it_is_argued(argued: tuple[Tab, Project, str]) -> None:
    tab, project, _ = argued
    page = tab.page
    assert page.locator("#drawer-title").inner_text() == "Do uploads go up in parts?"
    shown = standing(tab)
    assert f"Turn of\n{CRANE}" in shown
    assert "in 30 min" in shown
    assert "2 of 5" in shown
    assert page.evaluate(PICTURES) > 0, "stances over rounds, as the report draws them"
    say(project, CRANE, "approve", "0.6", "Then the disk is worth it.")
    page.locator("#drawer .standing-now").get_by_text(FINCH).first.wait_for()
    tab.see("Then the disk is worth it.", "#drawer .report")
    assert f"Turn of\n{FINCH}" in standing(tab)
    say(project, FINCH, "approve", "0.9", "Measured, so be it.")
    page.locator("#drawer").get_by_text("ended: consensus").first.wait_for()
    assert "Turn of" not in standing(tab)
    assert tab.errors == []


def test_a_parliament_shows_its_chamber_clock_motives_and_the_bills_history(
    tab_of_all: Tab,
) -> None:
    tab = tab_of_all
    page = tab.page
    tab.visit("#/decisions")
    page.get_by_role("link", name="Large uploads fail.").click()
    page.wait_for_selector("#drawer[open] .standing-now")
    shown = standing(tab)
    assert "2 of 6" in shown
    assert "1 of 6 exchanges used" in shown
    assert "cost 4 of 5" in shown
    assert page.get_by_role("progressbar", name="Clock").get_attribute("value") == "1"
    tab.see("The chamber", "#drawer .report")
    assert page.evaluate(PICTURES) > 1, "the chamber, and motives by round"
    tab.see("How the bill changed", "#drawer .report")


def test_a_trace_shows_what_rests_on_what(tab_of_all: Tab) -> None:
    tab = tab_of_all
    tab.visit("#/decisions/trace%2Ft1")
    shown = standing(tab)
    assert "challenged" in shown
    assert f"executor\n{CRANE}" in shown or f"executor {CRANE}" in shown
    tab.see("What rests on what", "#drawer .report")
    assert tab.page.evaluate(PICTURES) > 0


def test_a_question_shows_first_answers_vote_and_where_it_was_argued(tab_of_all: Tab) -> None:
    tab = tab_of_all
    tab.visit("#/decisions/decision%2Fq-1")
    shown = standing(tab)
    assert "3 of 3" in shown
    assert "Postgres" in shown
    assert "3 approve: agreed" in shown
    tab.see("First answers", "#drawer .report")
    tab.page.locator("#drawer .standing-now a[href*='debate']").click()
    tab.page.locator("#drawer-title").get_by_text("(round 2)").wait_for()


def test_an_agent_that_nobody_knows_is_said_to_be_unknown(tab_of_all: Tab) -> None:
    tab = tab_of_all
    tab.visit("#/agents/no-body")
    tab.see("no-body", "#drawer .notice")
    assert OTTER not in tab.page.locator("#drawer").inner_text()


@pytest.fixture
def tab_of_all(browser: Browser, server: ServerThread) -> Iterator[Tab]:
    made = new_tab(browser)
    made.open(server.address)
    yield made
    made.close()
