"""The API: one envelope, ETags by content, arguments that are checked, and its own description."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from moot.api.operation import OPERATIONS, all_operations
from moot.surfaces.terminal.answer import encode_json
from moot.surfaces.web.openapi import describe_api
from moot.surfaces.web.routes import ROUTES, find_route
from tests.project import Project
from tests.web.schema_check import find_mistake
from tests.web.server import Visitor, session_of

OTTER, CRANE = "amber-otter", "teal-crane"
HANDOFF = ("--subject", "auth cache", "--summary", "half", "--next-action", "finish")


@pytest.mark.requirement("OPR-089")
def test_sessions_and_conversations_are_served_and_outlast_a_restart(
    project: Project, visitor: Visitor
) -> None:
    project.ok("--as", OTTER, "reserve", "src/auth", "--work", "feature/T-7")
    project.ok("--as", OTTER, "handoff", CRANE, "--scope", "src", "--work", "feature/T-7", *HANDOFF)
    screen = visitor.get("/api/sessions").data
    assert set(screen) == {"feed", "agents", "incursions", "pending"}
    assert [card["work"] for group in screen["feed"] for card in group["cards"]] == ["feature/T-7"]
    reply = visitor.get("/api/sessions/feature%2FT-7/conversation")
    assert [row["label"] for row in reply.data["thread"]] == ["Passed to"]
    assert reply.envelope["command"] == "conversation"
    assert reply.headers["content-type"] == "application/json"


@pytest.mark.requirement("PAG-013")
def test_every_answer_is_the_same_as_the_librarys(project: Project, visitor: Visitor) -> None:
    project.ok("--as", OTTER, "reserve", "src/auth", "--work", "T-7")
    project.ok("--as", OTTER, "handoff", CRANE, "--scope", "src", "--work", "T-7", *HANDOFF)
    compared = 0
    all_operations()
    for route in (each for each in ROUTES if "{" not in each.path):
        reply = visitor.get(route.path)
        with session_of(project) as session:
            known = OPERATIONS[route.operation].function(session, **route.fixed)
        assert _without_times(reply.data) == _without_times(json.loads(encode_json(known)))
        compared += 1
    assert compared > 8


def _without_times(value: Any) -> Any:
    """Reasons such as `3 s ago` differ between two looks."""
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in ("because", "bytes")}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def test_an_etag_is_a_hash_of_the_answer(project: Project, visitor: Visitor) -> None:
    first = visitor.get("/api/v1/mail")
    same = visitor.get("/api/v1/mail", **{"If-None-Match": first.headers["etag"]})
    assert (same.status, same.body) == (304, b"")
    project.ok("--as", OTTER, "send", CRANE, "INFO: done")
    changed = visitor.get("/api/v1/mail", **{"If-None-Match": first.headers["etag"]})
    assert changed.status == 200
    assert changed.headers["etag"] != first.headers["etag"]
    assert len(changed.data["messages"]) == 1


def test_what_was_written_before_is_in_the_answer(project: Project, visitor: Visitor) -> None:
    for count in range(1, 6):
        project.ok("--as", OTTER, "send", CRANE, f"INFO: {count}")
        assert len(visitor.get("/api/v1/mail").data["messages"]) == count


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("/api/v1/mail?nonsense=1", 400, "bad_query"),
        ("/api/v1/mail?limit=x", 400, "bad_query"),
        ("/api/v1/mail?limit=201", 400, "bad_query"),
        ("/api/v1/mail?limit=5&limit=6", 400, "bad_query"),
        ("/api/v1/mail?agent=no-body", 404, "agent_not_found"),
        ("/api/v1/agents/no-body", 404, "agent_not_found"),
        ("/api/v1/decisions/q-9", 404, "not_found"),
        ("/api/v1/decisions/%2e%2e%2f%2e%2e%2fetc", 404, "not_found"),
        ("/api/v1/decisions/%ff", 400, "bad_address"),
        ("/api/v1/log?stream=nothing/here", 404, "not_found"),
        ("/api/v1/nothing", 404, "no_such_address"),
        ("/x/../api/sessions", 404, "no_such_address"),
        ("/static/../app.py", 404, "no_such_address"),
        ("/static/%2e%2e/app.py", 404, "no_such_address"),
    ],
)
def test_what_is_wrong_is_said_with_its_code(
    visitor: Visitor, address: str, status: int, code: str
) -> None:
    reply = visitor.get(address)
    assert (reply.status, reply.code) == (status, code)
    assert reply.envelope["ok"] is False


def test_a_report_opens_by_a_ticket_under_its_own_policy(
    project: Project, visitor: Visitor
) -> None:
    project.ok("--as", OTTER, "handoff", CRANE, "--scope", "src", "--work", "T-7", *HANDOFF)
    (message,) = visitor.get("/api/v1/mail").data["messages"]
    target = f"/report/{message['id'].replace(':', '%3A')}"
    reply = visitor.get(f"{target}?ticket={visitor.ticket(target)}")
    assert reply.status == 200, reply.body
    assert reply.headers["content-type"].startswith("text/html")
    assert "style-src 'sha256-" in reply.headers["content-security-policy"]
    assert b"<script" not in reply.body
    gone = f"/report/{'nothing'}"
    assert visitor.get(f"{gone}?ticket={visitor.ticket(gone)}").status == 404


def test_a_stored_file_is_a_download_and_never_shown(project: Project, visitor: Visitor) -> None:
    body = project.root.parent / "long.md"
    body.write_text("<script>alert(1)</script>\n" * 8000)
    project.ok("--as", OTTER, "send", CRANE, "INFO: x", str(body))
    (message,) = visitor.get("/api/v1/mail").data["messages"]
    sha = visitor.get(f"/api/v1/mail/{message['id'].replace(':', '%3A')}").data["message"][
        "artifact"
    ]
    target = f"/artifact/{sha}"
    reply = visitor.get(f"{target}?ticket={visitor.ticket(target)}")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/octet-stream")
    assert reply.headers["content-disposition"].startswith("attachment")
    assert reply.body.startswith(b"<script>")
    for wrong in ("/artifact/..%2f..%2fledger.db", f"/artifact/{'0' * 64}"):
        assert visitor.get(f"{wrong}?ticket={visitor.ticket(wrong)}").status == 404


def test_the_description_is_made_from_the_types_and_holds_for_answers(
    project: Project, visitor: Visitor
) -> None:
    project.ok("--as", OTTER, "handoff", CRANE, "--scope", "src", "--work", "T-7", *HANDOFF)
    document = visitor.get("/api/v1/openapi.json").data
    assert document == json.loads(encode_json(describe_api()))
    assert set(document["paths"]) == {route.path for route in ROUTES}
    names = set(document["components"]["schemas"])
    for reference in _references(document):
        assert reference.rpartition("/")[2] in names
    for route in (each for each in ROUTES if "{" not in each.path):
        envelope = visitor.get(route.path).envelope
        said = document["paths"][route.path]["get"]["responses"]["200"]["content"]
        schema = said["application/json"]["schema"]
        assert not find_mistake(envelope, schema, document["components"]["schemas"], route.path)


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [each for inner in value.values() for each in _references(inner)]
    return (
        [each for inner in value for each in _references(inner)] if isinstance(value, list) else []
    )


def test_an_address_is_compared_before_it_is_decoded() -> None:
    assert find_route("/api/v1/agents/a/b") is None
    found = find_route("/api/v1/agents/a%2Fb")
    assert found is not None
    assert found[1] == "a/b"


def test_a_check_runs_beside_and_its_verdict_is_kept(visitor: Visitor) -> None:
    assert visitor.get("/api/v1/verify").data["verdict"] is None
    with visitor.listen() as listener:
        listener.frame()
        assert visitor.post("/api/v1/verify").data["running"] is not None
        while visitor.get("/api/v1/verify").data["running"] is not None:
            assert "verify" in listener.changed()
    assert visitor.get("/api/v1/verify").data["verdict"]["verdict"] == "valid"


def test_a_ledger_that_is_gone_is_said_to_be_and_comes_back(
    project: Project, visitor: Visitor
) -> None:
    assert visitor.get("/api/v1/status").status == 200
    away = project.root / "away"
    shutil.move(project.root / ".moot", away)
    assert visitor.get("/api/v1/status").status == 503
    shutil.move(away, project.root / ".moot")
    assert visitor.get("/api/v1/status").status == 200
