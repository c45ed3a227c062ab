"""The page and time: badges that turn, a server that is gone and comes back, clocks that differ."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from moot.core.clock import MINUTE, system_clock, to_text
from tests.project import CRANE, MOOT, OTTER, Project, make_project
from tests.web.browser import new_tab
from tests.web.busy_project import FINCH
from tests.web.server import SECONDS, ServerThread, Visitor

LABELS = {"Passed to", "Needs input", "Overlapping work", "Refused", "Picked up again"}


def make_day(project: Project) -> None:
    """All that can happen to one work item, on one day: every label stands on it."""
    begun = project.env["MOOT_CLOCK"] = to_text(system_clock() - 40 * MINUTE)
    project.init_git()
    project.ok("init")
    for name in (OTTER, CRANE, FINCH):
        project.ok("join", "--register", name)
    project.ok("--as", OTTER, "reserve", "src/*", "--work", "T-1")
    project.env["MOOT_CLOCK"] = to_text(system_clock() - 20 * MINUTE)
    project.ok("--as", CRANE, "reserve", "src/*", "--work", "T-1", "--takeover-stale")
    assert project.refused("--as", FINCH, "reserve", "src/a.py", "--work", "T-1")
    words = ("--work", "T-1", "--subject", "parser")
    project.ok(
        *("--as", CRANE, "handoff", FINCH, *words, "--scope", "src/*"),
        *("--summary", "half", "--next-action", "finish"),
    )
    project.ok(
        *("--as", FINCH, "blocked", CRANE, *words, "--blocker", "none"),
        *("--requested-action", "say so", "--urgency", "low"),
    )
    (project.root / "src").mkdir()
    (project.root / "src" / "a.py").write_text("unfinished")
    assert project.ok("join", "--adopt", CRANE, "--work", "T-1")["adopted"]
    assert begun < project.env["MOOT_CLOCK"]


@pytest.mark.requirement("OPR-094")
@pytest.mark.requirement("OPR-095")
def test_badges_turn_with_time_and_all_five_labels_stand_in_the_conversation(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "project").mkdir()
    project = Project(tmp_path / "project", tmp_path / "keys")
    make_day(project)
    tab = new_tab(browser)
    acted = project.env["MOOT_CLOCK"]
    for clock, liveness in ((acted, "active"), (to_text(system_clock()), "stale")):
        project.env["MOOT_CLOCK"] = clock
        running = ServerThread(project)
        tab.open(running.address)
        tab.visit("#/sessions")
        tab.page.wait_for_selector(f"article.card [data-liveness={liveness}]")
        tab.visit("#/sessions/T-1")
        labels = tab.page.locator("#drawer .thread .badge:first-child").all_inner_texts()
        assert set(labels) == LABELS, labels
        running.stop()
    tab.close()


def start(project: Project, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [*MOOT, "serve", "--port", str(port)],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.requirement("PAG-012")
def test_a_server_that_is_killed_is_said_to_be_gone_and_all_tabs_come_back_with_the_next(
    browser: Browser, project: Project
) -> None:
    server, address = start(project)
    tab = new_tab(browser)
    page = tab.page
    try:
        tab.open(address)
        tab.visit("#/mail")
        page.evaluate("window.stays = 1")
        server.kill()
        server.communicate(timeout=SECONDS)
        page.wait_for_selector("#standing[data-state=reconnecting]")
        assert "as of" in page.locator("#standing").inner_text(), "nothing old looks new"
        project.ok("--as", OTTER, "send", CRANE, "INFO: while nobody served")
        server, again = start(project, Visitor(address).port)
        page.wait_for_selector("#standing[data-state=closed]")
        tab.see("moot serve", "#notice")
        other = page.context.new_page()
        other.goto(again)
        tab.wait_until_live()
        tab.see("while nobody served")
        assert page.evaluate("window.stays") == 1, "it was not loaded again"
        assert not page.locator("#notice").is_visible()
    finally:
        tab.close()
        server.kill()
        server.communicate(timeout=SECONDS)


def test_a_connection_that_was_only_interrupted_is_taken_up_again(
    browser: Browser, project: Project
) -> None:
    server = ServerThread(project)
    tab = new_tab(browser)
    page = tab.page
    try:
        tab.open(server.address)
        tab.visit("#/mail")
        page.context.set_offline(True)
        page.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")
        page.wait_for_selector("#standing[data-state=reconnecting]")
        project.ok("--as", OTTER, "send", CRANE, "INFO: on the way")
        page.context.set_offline(False)
        tab.wait_until_live()
        tab.see("on the way")
    finally:
        tab.close()
        server.stop()


def test_a_browser_whose_clock_is_wrong_says_how_long_ago_it_was_all_the_same(
    browser: Browser, project: Project
) -> None:
    project.ok("--as", OTTER, "send", CRANE, "INFO: just sent")
    server = ServerThread(project)
    tab = new_tab(browser)
    try:
        tab.page.clock.install(time="2031-01-01T00:00:00Z")
        tab.open(server.address)
        tab.visit("#/mail")
        told = tab.page.locator("li.row time").first.inner_text()
        assert told == "just now" or told.endswith(" s ago"), told
    finally:
        tab.close()
        server.stop()


def test_times_go_on_counting(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path, OTTER, CRANE)
    project.ok("--as", OTTER, "send", CRANE, "INFO: just sent")
    server = ServerThread(project)
    tab = new_tab(browser)
    try:
        tab.page.clock.install()
        tab.open(server.address)
        tab.visit("#/mail")
        before = tab.page.locator("li.row time").first.inner_text()
        tab.page.clock.run_for(3 * 60_000)
        assert before != tab.page.locator("li.row time").first.inner_text() == "3 min ago"
    finally:
        tab.close()
        server.stop()
