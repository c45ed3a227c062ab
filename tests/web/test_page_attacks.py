"""Attacks on the page in a real browser: hostile text everywhere, and a look-alike next door."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.cli.parliament_session import opened
from tests.project import CRANE, OTTER, Project, make_project
from tests.web.browser import SIZES, new_tab
from tests.web.busy_project import FINCH, VOICES
from tests.web.busy_project_decisions import AUDITOR
from tests.web.look_alike import looking_alike
from tests.web.server import ServerThread, Visitor

# ruff: noqa: E501 - scripts for the browser
HOSTILE = (
    "</script><script>window.hit=1</script>",
    "<img src=x onerror='window.hit=1'>",
    "<svg onload='window.hit=1'><a href='javascript:window.hit=1'>x</a></svg>",
    "\u202egnirts\u202c \u2066x\u2069 javascript:window.hit=1",
    "{{constructor.constructor('window.hit=1')()}} ${window.hit=1}",
)
ALL = " ".join(HOSTILE)
# Where marks are refused, and a text has to be short.
VISIBLE = "".join(text for text in HOSTILE if text.isprintable())[:190]
SVG_NAME = "<svg/onload=window.hit=1>"


def speak_hostile(project: Project) -> None:
    """The same texts wherever a text can be given."""
    project.ok("agent", "register", FINCH)
    project.ok("agent", "register", AUDITOR)
    project.ok("--as", OTTER, "reserve", "src", "--work", SVG_NAME)
    assert project.refused("--as", CRANE, "reserve", "src/<img src=x>.py", "--work", SVG_NAME)
    project.ok(
        *("--as", OTTER, "handoff", CRANE, "--work", SVG_NAME, "--scope", "src"),
        *("--subject", VISIBLE, "--summary", ALL + "y" * 7_000, "--next-action", ALL),
    )
    project.ok(
        *("--as", CRANE, "blocked", OTTER, "--work", SVG_NAME, "--subject", VISIBLE),
        *("--blocker", ALL, "--requested-action", ALL, "--urgency", "high"),
    )
    body = project.root.parent / "body.md"
    body.write_text(f"{ALL}\n{'z' * 65_000}\n[x](javascript:window.hit=1)\n", encoding="utf-8")
    subject = VISIBLE[:160]
    project.ok("--as", OTTER, "send", CRANE, f"INFO: {subject}", str(body), "--thread", "hostile")
    options = ("--option", f"A {VISIBLE}", "--option", f"B {VISIBLE}")
    project.ok("ask", f"{VISIBLE}?", *options, *VOICES)
    words = ("--title", VISIBLE, "--agents", f"{OTTER},{CRANE}", "--context", ALL)
    project.ok("debate", "new", "hostile.md", *words)
    entry = ("--stance", "approve", "--confidence", "0.8", "--summary", VISIBLE, "--body", VISIBLE)
    project.ok("debate", "add", "hostile.md", "--author", OTTER, *entry, "--escape")
    parliament = opened(project, f"Rep. {SVG_NAME}:speed", "Rep. B:cost", "Rep. C:safety")
    parliament.to_debate()
    roles = ("--planner", OTTER, "--executor", CRANE, "--critic", FINCH, "--auditor", AUDITOR)
    project.ok("trace", "new", "--task", ALL, *roles)
    project.ok("trace", "propose", "t1", "--objective", ALL, "--tool", "wc", "--assume", ALL)


@pytest.mark.requirement("PAG-005")
def test_hostile_text_stays_text_everywhere(browser: Browser, tmp_path: Path) -> None:
    project = make_project(tmp_path, OTTER, CRANE)
    speak_hostile(project)
    running = ServerThread(project)
    visitor = Visitor(running.address)
    visitor.enter()
    decided = [line["id"] for line in visitor.get("/api/v1/decisions").data["decisions"]]
    assert {name.partition("/")[0] for name in decided} == {
        *("decision", "debate", "parliament", "trace"),
    }
    streams = [line["id"] for line in visitor.get("/api/v1/log").data["streams"]]
    tab = new_tab(browser, "narrow")
    page = tab.page
    try:
        tab.open(running.address)
        work = "sessions/" + page.evaluate("encodeURIComponent", SVG_NAME)
        places = [
            *("now", "sessions", work, "decisions", "mail", "mail/hostile%3A1", "record"),
            *("search/hit", f"agents/{OTTER}"),
            *(f"decisions/{name.replace('/', '%2F')}" for name in decided),
            *(f"record/{name.replace('/', '%2F')}" for name in streams if "mail" not in name),
        ]
        for place in places:
            tab.visit(f"#/{place}")
            assert page.evaluate("window.hit") is None, place
            strange = "main img, #screen svg, dialog img, body script, iframe, object, [onload], [onerror]"
            assert page.locator(strange).count() == 0, place
            hrefs = page.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
            assert all(href is None or href.startswith("#") for href in hrefs), place
            assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["narrow"][0]
            shown = page.locator("body").inner_text()
            assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown), place
        assert tab.errors == []
        assert tab.hosts == {page.url.split("/")[2]}
        _open_report(tab.page, "decision/q-1")
    finally:
        tab.close()
        running.stop()


def _open_report(page: Page, name: str) -> None:
    """The report in a tab of its own runs nothing either."""
    page.evaluate("place => { location.hash = place }", f"#/decisions/{name.replace('/', '%2F')}")
    with page.context.expect_page() as opening:
        page.get_by_role("button", name="Report in a tab").click()
    report = opening.value
    report.wait_for_selector("h1")
    assert report.evaluate("window.hit") is None
    assert report.locator("script, img").count() == 0


def test_a_look_alike_next_door_gets_one_half_and_reads_nothing(
    browser: Browser, server: ServerThread
) -> None:
    tab = new_tab(browser)
    tab.open(server.address)
    ours = tab.page.url.rstrip("/")
    with looking_alike() as other:
        stranger = tab.page.context.new_page()
        stranger.goto(other.address)
        if "127.0.0.1" in ours:  # cookies ignore ports
            assert any("moot_" in cookie for cookie in other.cookies)
        assert stranger.evaluate("sessionStorage.length") == 0
        tries = {
            "read": f"fetch('{ours}/api/v1/status', {{credentials: 'include'}}).then(r => r.status)",
            "blind": f"fetch('{ours}/api/v1/status', {{credentials: 'include', mode: 'no-cors'}})"
            ".then(r => r.text())",
            "word": f"fetch('{ours}/api/v1/words', {{method: 'POST', credentials: 'include',"
            " mode: 'no-cors', body: '{}'}).then(r => r.status)",
            "listen": f"new Promise(done => {{ const s = new EventSource('{ours}/api/v1/events',"
            " {withCredentials: true}); s.onopen = () => done('open');"
            " s.onerror = () => done('refused') })",
            "frame": "new Promise(done => { const f = document.createElement('iframe');"
            f" f.src = '{ours}/'; f.onload = () => {{ try {{ done(f.contentDocument.body.innerText) }}"
            " catch { done('refused') } }; document.body.append(f) })",
        }
        outcome = {
            name: stranger.evaluate(f"() => {script}.catch(() => 'refused')")
            for name, script in tries.items()
        }
        assert outcome.pop("blind") in ("", "refused")
        assert outcome.pop("word") in (0, "refused"), "an answer that nobody may look at"
        assert set(outcome.values()) <= {"refused", None}
        half = "; ".join(other.cookies)
        visitor = Visitor(server.address)
        reply = visitor.ask("GET", "/api/v1/status", headers={"Cookie": half})
        assert (reply.status, reply.code) == (401, "not_let_in")
    assert tab.errors == []
    tab.close()


def test_under_its_own_name_a_look_alike_does_not_even_get_the_cookie(
    browser: Browser, server: ServerThread
) -> None:
    (alias,) = (name for name in server.names if name.startswith("moot-"))
    token = server.address.partition("#")[2]
    tab = new_tab(browser)
    tab.open(f"http://{alias}/enter#{token}")
    assert tab.page.url == f"http://{alias}/"
    with looking_alike() as other:
        stranger = tab.page.context.new_page()
        stranger.goto(other.address)
        assert other.cookies == []
    assert tab.errors == []
    tab.close()
