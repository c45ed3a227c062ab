"""mcp-agent-mail: its HTTP server on loopback, called by its MCP tools as its README shows it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bench.peers.drivers.mcp_client import HttpClient, count_tokens, wait_for_port
from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    millis_each,
    millis_together,
    resident_megabytes,
    serve,
)

CLIENTS = 8
MESSAGES = 8
HELD_AT_ONCE = 100
HOLD_SECONDS = 120


class Server(NamedTuple):
    """A running server, and the project that its agents share."""

    port: int
    pid: int
    project: str

    def connect(self) -> HttpClient:
        return HttpClient(self.port, "/mcp/")

    def register(self, client: HttpClient) -> str:
        """The name that the server gave to a new agent."""
        answer = client.call(
            "register_agent", project_key=self.project, program="bench", model="none"
        )
        name: str = structured(answer)["name"]
        return name

    def call_extended(self, client: HttpClient, tool: str, **arguments: Any) -> Any:
        """As it comes, it lists ten tools, and the others are called through one of these."""
        words = {"project_key": self.project, **arguments}
        return client.call("call_extended_tool", tool_name=tool, arguments=words)


def structured(answer: Any) -> Any:
    content = answer["structuredContent"]
    return content.get("result", content)


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    project = folder / "project"
    subprocess.run(["git", "init", "--quiet", str(project)], check=True, timeout=60)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(folder, port) as process:
        server = Server(port, process.pid, str(project))
        client = server.connect()
        client.call("ensure_project", human_key=server.project)
        client.close()
        yield server


@contextmanager
def serving(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """With the settings it comes with, but for where it keeps things."""
    env = {
        **os.environ,
        "STORAGE_ROOT": str(folder / "storage"),
        "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/mail.sqlite3",
    }
    command = [sys.executable, "-m", "mcp_agent_mail.cli", "serve-http"]
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        cwd=folder,
        env=env,
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port, process)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def first_answer() -> None:
        with serving(folder, port):
            client = HttpClient(port, "/mcp/")
            client.call("ensure_project", human_key=str(folder))
            client.close()

    yield lambda: millis_each(first_answer, 1)


@contextmanager
def mail(folder: Path, clients: int) -> Iterator[Measure]:
    with running(folder) as server, ExitStack() as stack:
        connections = [server.connect() for _ in range(clients)]
        for each in connections:
            stack.callback(each.close)
        names = [server.register(each) for each in connections]
        receiver = server.register(connections[0])
        acts = [
            partial(_send, server, client, name, receiver)
            for client, name in zip(connections, names, strict=True)
        ]

        def measure() -> float:
            for each in connections:
                each.renew()
            return millis_together(acts, MESSAGES)

        yield measure


def _send(server: Server, client: HttpClient, sender: str, receiver: str) -> None:
    client.call(
        "send_message",
        project_key=server.project,
        sender_name=sender,
        to=[receiver],
        subject="a record",
        body_md=A_RECORD,
    )


@contextmanager
def reserve(folder: Path, held: int) -> Iterator[Measure]:
    with running(folder) as server:
        client, numbers = server.connect(), count()
        _hold(server, client, held)
        name = server.register(client)

        def measure() -> float:
            client.renew()
            files = [f"src/mine/f{next(numbers)}.py" for _ in range(10)]
            todo = iter(files)
            spent = millis_each(lambda: _reserve(server, client, name, [next(todo)]), len(files))
            server.call_extended(client, "release_file_reservations", agent_name=name, paths=files)
            return spent

        yield measure
        client.close()


def _hold(server: Server, client: HttpClient, held: int) -> None:
    deadline = time.monotonic() + HOLD_SECONDS
    for begin in range(0, held, HELD_AT_ONCE):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{begin:,} of {held:,} were held after {HOLD_SECONDS} s")
        end = min(begin + HELD_AT_ONCE, held)
        files = [f"src/held/f{number}.py" for number in range(begin, end)]
        _reserve(server, client, server.register(client), files)


def _reserve(server: Server, client: HttpClient, name: str, files: Sequence[str]) -> None:
    answer = server.call_extended(
        client, "file_reservation_paths", agent_name=name, paths=list(files)
    )
    granted = structured(answer)["granted"]
    if len(granted) != len(files):
        raise RuntimeError(f"{len(granted)} of {len(files)} granted")


@contextmanager
def tools(folder: Path) -> Iterator[Measure]:
    with running(folder) as server:
        client = server.connect()

        def measure() -> float:
            client.renew()
            return count_tokens(client.ask("tools/list"))

        yield measure
        client.close()


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    with running(folder) as server:
        yield lambda: resident_megabytes(server.pid)


_KEPT = (
    "Kept in SQLite (synchronous NORMAL: the last commits may go with the power) and as files in a"
    " git repository; not signed. Over HTTP on loopback, one server for all agents."
)
OFFERED = {
    "start": Offered(start, "serve-http: start, greet, ensure_project, end", "", "mcp"),
    "mail-1": Offered(partial(mail, clients=1), "tool send_message", _KEPT, "mcp"),
    "mail-8": Offered(
        partial(mail, clients=CLIENTS), "tool send_message, eight connections", _KEPT, "mcp"
    ),
    "reserve-10": Offered(
        partial(reserve, held=10), "tool file_reservation_paths", f"Advisory. {_KEPT}", "mcp"
    ),
    "reserve-10000": Offered(
        partial(reserve, held=10_000), "tool file_reservation_paths", f"Advisory. {_KEPT}", "mcp"
    ),
    "tools": Offered(tools, "tools/list", "", "mcp"),
    "memory": Offered(memory, "serve-http after ensure_project", "One for all agents.", "mcp"),
}

if __name__ == "__main__":
    serve(OFFERED)
