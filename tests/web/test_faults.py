"""What goes wrong around a server that runs all day: crowds, slow readers, a ledger that is locked,
damaged, replaced or on a disk that may only be read, a clock that jumps."""

from __future__ import annotations

import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from moot.surfaces.web.live import MOST_LISTENERS
from moot.surfaces.web.routes import ROUTES
from tests.project import CRANE, MOOT, OTTER, Project, make_project
from tests.unprivileged import contents, has_read_only_disks, on_a_read_only_disk
from tests.web.server import SECONDS, ServerThread, Visitor, serving

TRIED = 300
PLAIN = [route.path for route in ROUTES if "{" not in route.path]


def test_three_hundred_listen_and_those_beyond_the_limit_are_told_when_to_come_back(
    project: Project, visitor: Visitor
) -> None:
    with ExitStack() as stack:
        listeners = [stack.enter_context(visitor.listen()) for _ in range(TRIED)]
        statuses = [listener.status for listener in listeners]
        assert statuses == [200] * MOST_LISTENERS + [503] * (TRIED - MOST_LISTENERS)
        assert listeners[-1].headers["retry-after"] == "10"
        assert visitor.get("/api/v1/status").status == 200, "plain requests are still answered"
        project.ok("--as", OTTER, "send", CRANE, "INFO: to all of you")
        for listener in listeners[:MOST_LISTENERS]:
            changed: set[str] = set()
            while "mail" not in changed:
                changed |= set(listener.changed())
    with serving(project) as again, again.listen() as listener:
        assert listener.status == 200


def test_anyone_who_left_makes_room(visitor: Visitor) -> None:
    with ExitStack() as stack:
        for _ in range(MOST_LISTENERS):
            assert stack.enter_context(visitor.listen()).status == 200
    limit = time.monotonic() + SECONDS
    status = 0
    while status != 200:  # the server notices it when it next has something to say
        assert time.monotonic() < limit, "nobody can listen any more"
        visitor.post("/api/v1/verify")
        with visitor.listen() as listener:
            status = listener.status


def test_those_who_never_read_keep_nobody_waiting(project: Project, visitor: Visitor) -> None:
    """Answers that nobody takes, requests that never end, and a listener that does not listen."""
    with ExitStack() as stack:
        for _ in range(30):
            greedy = stack.enter_context(_connect(visitor))
            greedy.sendall(_request(visitor, "/api/v1/openapi.json") * 20)
            dawdling = stack.enter_context(_connect(visitor))
            dawdling.sendall(b"GET /api/v1/status HTTP/1.1\r\nHost: ")
            deaf = stack.enter_context(_connect(visitor))
            ticket = visitor.ticket("/api/v1/events")
            deaf.sendall(_request(visitor, f"/api/v1/events?ticket={ticket}"))
        with visitor.listen() as listener:
            listener.frame()
            for number in range(3):
                project.ok("--as", OTTER, "send", CRANE, f"INFO: number {number}")
                while "mail" not in listener.changed():
                    pass
                assert len(visitor.get("/api/v1/mail").data["messages"]) == number + 1


@contextmanager
def _connect(visitor: Visitor) -> Iterator[socket.socket]:
    """A connection with as little room for answers as the system allows."""
    connection = socket.socket()
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        connection.settimeout(SECONDS)
        connection.connect(("127.0.0.1", visitor.port))
        yield connection
    finally:
        connection.close()


def _request(visitor: Visitor, path: str) -> bytes:
    headers = {"Host": visitor.host, **visitor.secret()}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def test_a_ledger_that_another_process_has_locked_is_read_all_the_same(
    project: Project, visitor: Visitor
) -> None:
    before = visitor.get("/api/v1/log").data["total"]
    holder = sqlite3.connect(project.ledger, isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        for path in PLAIN:
            assert visitor.get(path).status == 200, path
        holder.execute("ROLLBACK")
    finally:
        holder.close()
    project.ok("--as", OTTER, "send", CRANE, "INFO: after it")
    assert visitor.get("/api/v1/log").data["total"] > before


def test_a_damaged_ledger_is_said_to_be_and_is_read_again_once_it_is_whole(
    project: Project, visitor: Visitor
) -> None:
    assert visitor.get("/api/v1/status").status == 200
    with sqlite3.connect(project.ledger) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole = project.ledger.read_bytes()
    with visitor.listen() as listener:
        listener.frame()
        project.ledger.write_bytes(b"\0" * len(whole))
        for path in PLAIN:
            reply = visitor.get(path)
            assert reply.status in (200, 503), (path, reply.body)
            assert reply.status == 200 or reply.code != "internal_error", path
        assert visitor.get("/api/v1/status").status == 503
        project.ledger.write_bytes(whole)
        visitor.get_until_it_is_there("/api/v1/status")


def test_a_workspace_on_a_disk_that_may_only_be_read_is_shown_and_left_alone(
    project: Project,
) -> None:
    if not has_read_only_disks(project.root):
        pytest.skip("no read-only disk can be mounted here")
    project.ok("--as", OTTER, "send", CRANE, "INFO: before")
    before = contents(project.root)
    server = subprocess.Popen(
        [*on_a_read_only_disk(project.root), *MOOT, "--home", str(project.root / ".moot"), "serve"],
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        visitor = Visitor(server.stdout.readline().strip())
        visitor.enter()
        with visitor.listen() as listener:
            listener.frame()
            for path in PLAIN:
                assert visitor.get(path).status == 200, path
        assert len(visitor.get("/api/v1/mail").data["messages"]) == 1
    finally:
        server.terminate()
        _, told = server.communicate(timeout=SECONDS)
    assert "Traceback" not in told
    assert contents(project.root) == before


@pytest.mark.parametrize(
    "now", ["1971-01-01T00:00:00.000Z", "2026-02-17T16:00:00.000Z", "2126-02-18T16:00:00.000Z"]
)
def test_a_clock_that_jumped_changes_what_is_late_and_breaks_nothing(
    tmp_path: Path, now: str
) -> None:
    (tmp_path / "project").mkdir()
    project = Project(
        tmp_path / "project", tmp_path / "keys", MOOT_CLOCK="2026-02-18T16:00:00.000Z"
    )
    project.ok("init")
    for name in (OTTER, CRANE):
        project.ok("agent", "register", name)
    project.ok("--as", OTTER, "reserve", "src/auth", "--work", "T-7", "--ttl", "60")
    project.ok("--as", OTTER, "send", CRANE, "QUESTION: Are you there?")
    project.env["MOOT_CLOCK"] = now
    with serving(project) as visitor:
        for path in PLAIN:
            assert visitor.get(path).status == 200, path
        late = [item["overdue"] for item in visitor.get("/api/v1/agenda").data["due"]]
        assert any(late) == (now > "2100")


def test_a_server_that_was_killed_leaves_the_next_one_its_port(project: Project) -> None:
    words = [*MOOT, "serve"]
    ports: list[int] = []
    for _ in range(2):
        server = subprocess.Popen(
            [*words, *(("--port", str(ports[0])) if ports else ())],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout is not None
            visitor = Visitor(server.stdout.readline().strip())
            visitor.enter()
            ports.append(visitor.port)
            with visitor.listen() as listener:
                listener.frame()
                server.kill()
                assert listener.frame() == {}, "the connection ends with it"
        finally:
            server.kill()
            server.communicate(timeout=SECONDS)
    assert ports[0] == ports[1]
    assert project.ok("verify")["verdict"] == "valid"


def test_a_server_ends_although_its_workspace_is_gone(project: Project, tmp_path: Path) -> None:
    server = ServerThread(project)
    visitor = Visitor(server.address)
    visitor.enter()
    # At once: one file after another would race with the server, which writes beside them.
    (project.root / ".moot").rename(tmp_path / "gone")
    assert visitor.get("/api/v1/status").status == 503
    server.stop()
    assert not project.ledger.exists()


def test_another_ledger_in_its_place_is_shown_and_everybody_is_told(
    project: Project, tmp_path: Path, visitor: Visitor
) -> None:
    other = make_project(tmp_path / "other", OTTER, CRANE)
    other.ok("--as", OTTER, "send", CRANE, "INFO: from the other one")
    assert visitor.get("/api/v1/mail").data["messages"] == []
    with visitor.listen() as listener:
        listener.frame()
        (project.root / ".moot").rename(project.root / "away")
        shutil.copytree(other.root / ".moot", project.root / ".moot")
        until = time.monotonic() + SECONDS
        while "mail" not in listener.changed():
            assert time.monotonic() < until, "nobody was told"
        (message,) = visitor.get_until_it_is_there("/api/v1/mail").data["messages"]
    assert message["subject"] == "INFO: from the other one"
