"""What waits for a person, on the page: each says what is asked, and the command that does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from moot.core.clock import MINUTE, system_clock, to_text
from moot.protocols.example.model import Ask
from tests.cli.parliament_session import FOLDER
from tests.project import CRANE, OTTER, Project, make_project
from tests.web.browser import Tab, new_tab
from tests.web.server import ServerThread
from tests.web.waiting_parliament import make_waiting

MINE = "section[aria-labelledby=h-mine]"


@contextmanager
def looking(browser: Browser, project: Project) -> Iterator[Tab]:
    server, tab = ServerThread(project), new_tab(browser)
    try:
        tab.open(server.address)
        yield tab
        assert tab.errors == []
    finally:
        tab.close()
        server.stop()


def test_a_parliament_waits_for_its_person_with_the_bill_and_its_hash(
    browser: Browser, tmp_path: Path
) -> None:
    waiting = make_waiting(tmp_path)
    folder = (waiting.project.root / FOLDER).resolve()
    with looking(browser, waiting.project) as tab:
        tab.see("Uploads in parts", MINE)
        tab.see(f"moot parliament decide {folder} approve", MINE)
        owed = tab.page.locator("section[aria-labelledby=h-owed]").inner_text()
        assert "prime-minister" not in owed
        tab.page.locator(MINE).get_by_role("link", name="Uploads in parts").click()
        asked = tab.page.locator("#drawer .asked")
        asked.get_by_text("Send parts and join them.").wait_for()
        digest = asked.locator("code").first.inner_text()
        assert len(digest) == 64
        assert f"moot parliament decide {folder} approve" in asked.inner_text()
        assert tab.page.locator("#drawer input[type=password]").count() == 0


def test_a_debate_that_waits_for_a_person_says_how_it_goes_on(
    browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "project").mkdir()
    begun = to_text(system_clock() - 40 * MINUTE)
    project = Project(tmp_path / "project", tmp_path / "keys", MOOT_CLOCK=begun)
    project.ok("init")
    for name in (OTTER, CRANE):
        project.ok("agent", "register", name)
    project.ok(
        *("debate", "new", "uploads.md", "--title", "Do uploads go up in parts?"),
        *("--agents", f"{OTTER},{CRANE}", "--turn-timeout", "60", "--escalation", "human"),
    )
    project.env["MOOT_CLOCK"] = to_text(system_clock())
    with looking(browser, project) as tab:
        tab.see("Do uploads go up in parts?: round 1", MINE)
        tab.see("resume the debate", MINE)
        tab.see("moot debate resume uploads.md --late (or --skip)", MINE)


def test_a_loss_waits_for_a_person_with_what_can_be_done(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path, OTTER, CRANE)
    before = project.ledger.read_bytes()
    project.execute(OTTER, Ask(title="first", of=CRANE))
    project.ledger.write_bytes(before)
    with looking(browser, project) as tab:
        tab.see("Events were lost", MINE)
        tab.see('moot ledger accept-loss --reason "..."', MINE)


def test_a_card_names_the_key_folder_where_there_is_more_than_one(
    browser: Browser, tmp_path: Path
) -> None:
    project = make_project(tmp_path, OTTER, CRANE)
    project.ok("--as", OTTER, "reserve", "src/a.py", "--work", "T-1")
    with looking(browser, project) as tab:
        tab.visit("#/sessions")
        tab.see("T-1", "article.card")
        assert "key in" not in tab.page.locator("body").inner_text()
        other = tmp_path / "other keys"
        project.ok("agent", "register", "coral-finch", "--keys", str(other))
        words = ("--as", "coral-finch", "reserve", "src/b.py", "--work", "T-2")
        project.ok(*words, MOOT_KEYS=str(other))
        everyone = project.ok("agent", "list")["agents"]
        folders = {agent["agent"]: agent["custodian"] for agent in everyone}
        ours, theirs = folders[OTTER], folders["coral-finch"]
        assert ours != theirs
        for work, folder in (("T-1", ours), ("T-2", theirs)):
            tab.see(f"key in {folder[:8]}", f"article[data-work='{work}']")
