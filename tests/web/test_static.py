"""The files of the page, without a browser: whole, small, from here alone, and never markup."""

from __future__ import annotations

import re

import pytest

from moot.surfaces.web.app import read_static_files
from moot.surfaces.web.routes import ROUTES
from tests.web.server import Visitor

FILES = read_static_files()
SCRIPTS = {name: file for name, file in FILES.items() if name.endswith(".js")}
# What would turn text into markup or code.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function"
    r"|setTimeout\(\s*[\"'`]"
)


def test_no_script_is_over_20_kilobytes_and_all_that_is_loaded_first_is_within_60() -> None:
    assert SCRIPTS
    assert max(len(file.body) for file in SCRIPTS.values()) <= 20_000
    assert sum(len(file.compressed) for file in FILES.values()) <= 60_000


def test_text_is_never_made_into_markup() -> None:
    for name, file in SCRIPTS.items():
        assert not FORBIDDEN.search(file.body.decode()), name


@pytest.mark.requirement("PAG-006")
def test_nothing_is_asked_of_another_host() -> None:
    for name, file in FILES.items():
        named = set(re.findall(r"https?://([\w.-]+)", file.body.decode()))
        assert named <= {"www.w3.org"}, f"{name}: the name of SVG's elements, and nothing else"


def test_every_module_that_is_imported_is_there() -> None:
    for name, file in SCRIPTS.items():
        for imported in re.findall(r'from "\./([\w-]+\.js)"', file.body.decode()):
            assert imported in FILES, f"{name} imports {imported}"


@pytest.mark.requirement("OPR-090")
def test_the_page_has_cards_a_feed_a_drawer_and_listens(visitor: Visitor) -> None:
    page = visitor.ask("GET", "/").body.decode()
    assert 'id="drawer"' in page
    assert "<noscript>" in page
    sessions = SCRIPTS["screen-sessions.js"].body.decode()
    assert '"/api/sessions"' in sessions
    assert "/conversation" in sessions
    assert 'class: "card"' in sessions
    assert 'class: "feed"' in sessions
    assert "new EventSource" in SCRIPTS["live.js"].body.decode()


def test_the_page_reads_only_what_the_api_offers() -> None:
    """OPR-100: every address in a module is one of the table, or the server's own."""
    own = {"enter", "leave", "tickets", "events", "verify", "words", "report"}
    offered = {route.path.split("/")[3] for route in ROUTES if route.path.startswith("/api/v1/")}
    for name, file in SCRIPTS.items():
        for word in re.findall(r"/api/v1/([a-z]+)", file.body.decode()):
            assert word in offered | own, f"{name} asks for {word}"


@pytest.mark.requirement("PAG-009")
def test_there_is_no_field_for_a_passphrase() -> None:
    for name, file in FILES.items():
        assert "password" not in file.body.decode(), name


def test_files_come_compressed_and_are_asked_for_once(visitor: Visitor) -> None:
    plain = visitor.ask("GET", "/static/main.js")
    packed = visitor.ask("GET", "/static/main.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(plain.body)
    known = {"If-None-Match": plain.headers["etag"]}
    assert visitor.ask("GET", "/static/main.js", headers=known).status == 304
    assert visitor.ask("GET", "/favicon.ico").headers["content-type"] == "image/svg+xml"
