"""Who may look: attacks on the server, each with its refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from moot.surfaces.web.access import COOKIE_SECONDS, MOST_WRONG_TOKENS, TICKET_SECONDS, Access
from moot.surfaces.web.app import ENTER
from moot.surfaces.web.routes import ROUTES
from moot.surfaces.web.server import resolves_to_loopback
from tests.project import CRANE, OTTER, Project, make_project
from tests.web.server import ServerThread, Visitor, serving

# Every address of an operation, as one would ask for it; the server says its own.
OPERATIONS = [re.sub(r"\{[a-z]+\}", "x", route.path) for route in ROUTES]
ODD = ["/nowhere", "/x/../api/sessions", "/api/v1/enter", "//", "/api/v1/events/"]
PAGES = ("/static/", "/favicon.ico")


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Visitor, ServerThread]]:
    """A server, and somebody who has entered, for attacks that change nothing."""
    server = ServerThread(make_project(tmp_path_factory.mktemp("attacked"), OTTER, CRANE))
    visitor = Visitor(server.address)
    visitor.enter()
    yield visitor, server
    server.stop()


@pytest.fixture
def visitor(known: tuple[Visitor, ServerThread]) -> Visitor:
    """Each attack begins with a visit of its own."""
    known[0].enter()
    return known[0]


@pytest.fixture
def addresses(known: tuple[Visitor, ServerThread]) -> list[str]:
    return [*OPERATIONS, *sorted(known[1].own_addresses[0]), *ODD]


@pytest.fixture
def posts(known: tuple[Visitor, ServerThread]) -> list[str]:
    return sorted(known[1].own_addresses[1])


def test_the_table_holds_what_the_server_answers(addresses: list[str], posts: list[str]) -> None:
    assert {"/", "/enter", "/favicon.ico", "/api/v1/events", "/api/v1/words"} <= set(addresses)
    assert {"/report/x", "/artifact/x", "/api/v1/report/x", "/static/main.js"} <= set(addresses)
    assert {"/api/v1/enter", "/api/v1/leave", "/api/v1/tickets", "/api/v1/words"} <= set(posts)


@pytest.mark.requirement("PAG-002")
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "moot.localhost", ""])
def test_another_host_is_refused_on_every_route(
    visitor: Visitor, addresses: list[str], posts: list[str], host: str
) -> None:
    for address in addresses:
        reply = visitor.get(address, Host=host)
        assert (reply.status, reply.code) == (421, "wrong_host"), address
    for address in posts:
        reply = visitor.post(address, Host=host)
        assert (reply.status, reply.code) == (421, "wrong_host"), address


@pytest.mark.requirement("PAG-002")
def test_another_origin_is_refused_on_every_route(
    visitor: Visitor, addresses: list[str], posts: list[str]
) -> None:
    for address in addresses:
        reply = visitor.get(address, Origin="http://evil.example")
        assert (reply.status, reply.code) == (403, "wrong_origin"), address
    for address in posts:
        for origin in ("http://evil.example", "null", f"http://127.0.0.1:{visitor.port + 1}"):
            assert visitor.post(address, Origin=origin).code == "wrong_origin", address
        reply = visitor.ask("POST", address, {}, visitor.secret())
        assert (reply.status, reply.code) == (403, "origin_required"), address


@pytest.mark.requirement("PAG-003")
def test_one_half_of_the_secret_opens_nothing(
    visitor: Visitor, addresses: list[str], posts: list[str]
) -> None:
    halves: tuple[dict[str, str], ...] = (
        {},
        {"Cookie": visitor.cookie},
        {"X-Moot-Half": visitor.half},
        {"Cookie": visitor.cookie, "X-Moot-Half": visitor.half[:-1]},
        {"Cookie": f"moot_{visitor.port}={visitor.half}", "X-Moot-Half": visitor.half},
    )
    for half in halves:
        for address in addresses:
            reply = visitor.ask("GET", address, headers=half)
            if address in ("/", "/enter") or address.startswith(PAGES):
                assert reply.status == 200, address
            else:
                assert (reply.status, reply.code) == (401, "not_let_in"), address
        for address in (each for each in posts if each != ENTER):
            headers = {**half, "Origin": f"http://{visitor.host}"}
            assert visitor.ask("POST", address, {}, headers).code == "not_let_in", address


def test_nothing_is_open_to_other_origins_and_nothing_is_stored(
    visitor: Visitor, addresses: list[str]
) -> None:
    for address in addresses:
        headers = {name.lower(): text for name, text in visitor.get(address).headers.items()}
        assert not any(name.startswith("access-control") for name in headers), address
        assert "default-src 'none'" in headers["content-security-policy"], address
        assert headers["x-content-type-options"] == "nosniff", address
        assert headers["referrer-policy"] == "no-referrer", address
        assert headers["cache-control"] in ("no-store", "no-cache"), address
        assert "server" not in headers, address


@pytest.mark.requirement("PAG-004")
def test_a_wrong_token_lets_nobody_in_and_leaving_ends_both_halves(visitor: Visitor) -> None:
    assert visitor.post("/api/v1/enter", {"token": "x"}).status == 401
    assert visitor.get("/api/v1/status").status == 200
    ticket = visitor.ticket("/api/v1/events")
    assert visitor.post("/api/v1/leave").data == {"left": True}
    assert visitor.get("/api/v1/status").status == 401
    assert visitor.get(f"/api/v1/events?ticket={ticket}").status == 401


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(visitor: Visitor) -> None:
    reply = visitor.post("/api/v1/enter", {"token": visitor.token})
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"moot_{visitor.port}=")
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert f"Max-Age={COOKIE_SECONDS}" in cookie


def test_a_ticket_is_good_once_for_its_address_and_its_browser(visitor: Visitor) -> None:
    ticket = visitor.ticket("/report/registry")
    assert visitor.get(f"/report/other?ticket={ticket}").status == 401
    assert visitor.get(f"/report/registry?ticket={ticket}").status == 401, "it was used up"
    ticket = visitor.ticket("/report/amber-otter")
    other = Visitor(f"http://{visitor.host}/enter#{visitor.token}")
    other.enter()
    assert other.get(f"/report/amber-otter?ticket={ticket}").status == 401
    assert visitor.post("/api/v1/tickets", {"target": "/api/v1/status"}).code == "bad_ticket"


@pytest.mark.requirement("PAG-004")
def test_leaving_ends_the_tickets_of_this_browser_alone() -> None:
    access = Access(lambda: 0.0)
    one, other = access.enter(access.token), access.enter(access.token)
    assert one is not None
    assert other is not None
    gone, kept = (access.make_ticket(visit.cookie, "/a") for visit in (one, other))
    access.leave(one.cookie)
    assert not access.take_ticket(gone, one.cookie, "/a")
    assert access.take_ticket(kept, other.cookie, "/a")


def test_secrets_end_with_their_time() -> None:
    time = [0.0]
    access = Access(lambda: time[0])
    visit = access.enter(access.token)
    assert visit is not None
    ticket = access.make_ticket(visit.cookie, "/a")
    time[0] = TICKET_SECONDS
    assert not access.take_ticket(ticket, visit.cookie, "/a")
    assert access.may_look(visit.cookie, visit.half)
    time[0] = COOKIE_SECONDS
    assert not access.may_look(visit.cookie, visit.half)


def test_after_many_wrong_tokens_none_is_taken() -> None:
    access = Access()
    for _ in range(MOST_WRONG_TOKENS):
        assert access.enter("wrong") is None
    assert access.enter(access.token) is None


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (b"{" * 100, {}, "not_json"),
        (b"[1]", {}, "not_json"),
        (b"x" * 70_000, {}, "too_large"),
        (b"{}", {"Content-Type": "text/plain"}, "not_json"),
        (b'{"token": 7}', {}, "bad_body"),
        (b"\xff\xfe", {}, "not_json"),
    ],
)
def test_a_bad_body_is_said_to_be_one(
    visitor: Visitor, body: bytes, headers: dict[str, str], code: str
) -> None:
    assert visitor.post("/api/v1/enter", body, **headers).code == code


def test_other_methods_and_long_addresses_are_refused(visitor: Visitor) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert visitor.ask(method, "/api/sessions", headers=visitor.secret()).status == 405
    assert visitor.get(f"/api/v1/search?q={'x' * 5000}").status == 414
    assert visitor.get(f"/api/v1/search?q={'x' * 500}").code == "bad_query"


def test_the_server_has_a_name_of_its_own_and_answers_under_it(
    known: tuple[Visitor, ServerThread],
) -> None:
    """The name keeps its cookie from every other server on this machine."""
    visitor, server = known
    (alias,) = (name for name in server.names if re.match(r"moot-[0-9a-f]{8}\.localhost:", name))
    assert visitor.get("/api/v1/status", Host=alias).status == 200
    assert visitor.post("/api/v1/leave", Host=alias, Origin=f"http://{alias}").status == 200
    bare = alias.partition(":")[0]
    assert (server.names[0] == alias) == resolves_to_loopback(bare), "printed where it resolves"
    assert server.address.startswith(f"http://{server.names[0]}/enter#")
    assert resolves_to_loopback("localhost")
    assert not resolves_to_loopback("moot-0.invalid")


def test_two_servers_do_not_take_each_others_cookies(project: Project) -> None:
    with serving(project) as one, serving(project) as other:
        one.cookie, one.half = other.cookie, other.half
        assert one.get("/api/v1/status").status == 401
