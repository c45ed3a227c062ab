"""A real server over a real socket, in a thread of the test, and a client that knows its secret."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from moot.api.session import Session
from moot.keys.folder import KeyFolder
from moot.surfaces.web.server import Listening, RunningServer, make_server
from tests.project import Project

SECONDS = 60


class HttpReply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def envelope(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.body)
        return said

    @property
    def data(self) -> Any:
        assert self.envelope["ok"], self.envelope
        return self.envelope["data"]

    @property
    def code(self) -> str:
        code: str = self.envelope["error"]["code"]
        return code


class Visitor:
    """A client of the server; after `enter` it has both halves of the secret."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        assert parts.port is not None
        self.port = parts.port
        self.host = f"127.0.0.1:{self.port}"
        self.token = parts.fragment
        self.cookie = ""
        self.half = ""

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> HttpReply:
        """One request with exactly these headers beside Host."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = {"Host": self.host, **(headers or {})}
            raw = b"" if body is None else body if isinstance(body, bytes) else _json(body)
            if body is not None:
                sent.setdefault("Content-Type", "application/json")
                sent["Content-Length"] = str(len(raw))
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(raw or None)
            reply = connection.getresponse()
            return HttpReply(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()

    def enter(self) -> None:
        reply = self.post("/api/v1/enter", {"token": self.token})
        self.half = reply.data["half"]
        self.cookie = reply.headers["set-cookie"].partition(";")[0]

    def secret(self) -> dict[str, str]:
        return {"Cookie": self.cookie, "X-Moot-Half": self.half}

    def get(self, path: str, **headers: str) -> HttpReply:
        return self.ask("GET", path, headers={**self.secret(), **headers})

    def post(self, path: str, body: Any = None, **headers: str) -> HttpReply:
        origin = {"Origin": f"http://{self.host}"}
        return self.ask("POST", path, body or {}, {**self.secret(), **origin, **headers})

    def get_until_it_is_there(self, path: str) -> HttpReply:
        """Ask again and again, as a page does, until it can be read."""
        limit = time.monotonic() + SECONDS
        while (reply := self.get(path)).status != 200:
            assert time.monotonic() < limit, reply.body
        return reply

    def ticket(self, target: str) -> str:
        ticket: str = self.post("/api/v1/tickets", {"target": target}).data["ticket"]
        return ticket

    @contextmanager
    def listen(self, last_id: str = "") -> Iterator[Listener]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            headers = {"Host": self.host, "Cookie": self.cookie}
            if last_id:
                headers["Last-Event-ID"] = last_id
            ticket = self.ticket("/api/v1/events")
            connection.request("GET", f"/api/v1/events?ticket={ticket}", headers=headers)
            yield Listener(connection.getresponse())
        finally:
            connection.close()


class Listener:
    """One who listens to live events."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = dict(response.getheaders())
        self._response = response

    def frame(self) -> dict[str, str]:
        """The next frame, by field; comments stand under the empty name."""
        fields: dict[str, str] = {}
        while line := self._response.readline().decode().rstrip("\n"):
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        return fields

    def changed(self) -> list[str]:
        """The screens of the next frame that names any; one comes well within three comments."""
        for _ in range(3):
            frame = self.frame()
            if "data" in frame:
                names: list[str] = json.loads(frame["data"])["changed"]
                return names
        raise AssertionError("nothing changed")


def _json(body: Any) -> bytes:
    return json.dumps(body).encode()


def session_of(project: Project) -> Session:
    return Session(
        project.root,
        keys=KeyFolder(project.keys),
        clock=project.env.get("MOOT_CLOCK", ""),
        env=project.env,
    )


class ServerThread:
    """A server that runs until it is stopped."""

    def __init__(self, project: Project, port: int = 0) -> None:
        running: RunningServer = make_server(
            session_of(project), Listening(port=port), env=project.env
        )
        self.address = running.address
        self.names = running.names
        self.listeners = running.server.listeners
        self.own_addresses = running.page.own_addresses
        self._server = running.server
        self._thread = threading.Thread(target=running.run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(SECONDS)
        assert not self._thread.is_alive(), "the server did not stop"


@contextmanager
def serving(project: Project) -> Iterator[Visitor]:
    """A visitor who has entered."""
    server = ServerThread(project)
    try:
        visitor = Visitor(server.address)
        visitor.enter()
        yield visitor
    finally:
        server.stop()
