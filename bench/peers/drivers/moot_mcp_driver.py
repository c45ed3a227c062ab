"""Moot, as an agent calls it: `moot mcp`, one server for each agent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from bench.peers.drivers.mcp_client import PipeClient, count_tokens
from bench.peers.drivers.moot_driver import SIGNED
from bench.peers.drivers.moot_project import AGENT, OTHER, hold, make_project, open_project
from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    installed_command,
    millis_each,
    millis_together,
    resident_megabytes,
    serve,
)
from moot.api.presence import agents

MESSAGES = 8  # an agent may send ten in a minute through MCP


def start_server(project: Path, agent: str) -> PipeClient:
    env = {**os.environ, "MOOT_KEYS": str(project.parent / "keys"), "MOOT_AGENT": agent}
    return PipeClient([installed_command("moot"), "mcp"], project, env)


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    project = make_project(folder)

    def first_answer() -> None:
        with start_server(project, AGENT) as server:
            server.call("scope", action="list")

    yield lambda: millis_each(first_answer, 1)


@contextmanager
def mail(folder: Path, clients: int) -> Iterator[Measure]:
    """Each round has agents of its own, so that nobody reaches the limit of a minute."""
    project, numbers = make_project(folder), count()

    def measure() -> float:
        names = [f"sender-{next(numbers):03d}" for _ in range(clients)]
        with open_project(project) as session:
            for name in names:
                agents.register(session, name)
        with ExitStack() as stack:
            servers = [stack.enter_context(start_server(project, name)) for name in names]
            for server in servers:
                server.call("scope", action="list")  # joined, opened, and warm
            return _send_together(servers)

    yield measure


def _send_together(servers: Sequence[PipeClient]) -> float:
    def send(server: PipeClient) -> None:
        server.call("mail", action="send", to=[OTHER], subject="INFO: a record", text=A_RECORD)

    return millis_together([partial(send, server) for server in servers], MESSAGES)


@contextmanager
def reserve(folder: Path, held: int) -> Iterator[Measure]:
    project, numbers = make_project(folder), count()
    hold(project, held)
    with start_server(project, AGENT) as server:

        def measure() -> float:
            files = [f"src/mine/f{next(numbers)}.py" for _ in range(20)]
            todo = iter(files)

            def take() -> None:
                server.call("scope", action="reserve", paths=[next(todo)])

            spent = millis_each(take, len(files))
            server.call("scope", action="release", paths=files)
            return spent

        yield measure


@contextmanager
def tools(folder: Path) -> Iterator[Measure]:
    with start_server(make_project(folder), AGENT) as server:
        yield lambda: count_tokens(server.ask("tools/list"))


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    with start_server(make_project(folder), AGENT) as server:
        server.call("scope", action="list")
        yield lambda: resident_megabytes(server.pid)


_LIMIT = "An agent may send ten a minute this way, so every round has new agents."
OFFERED = {
    "start": Offered(start, "moot mcp: start, greet, list the reservations, end", "", "mcp"),
    "mail-1": Offered(
        partial(mail, clients=1),
        "moot mcp, tool mail, action send, over pipes",
        f"The message is checked and {SIGNED}. {_LIMIT}",
        "mcp",
    ),
    "mail-8": Offered(
        partial(mail, clients=8),
        "eight moot mcp servers on one workspace",
        f"The message is checked and {SIGNED}. {_LIMIT}",
        "mcp",
    ),
    "reserve-10": Offered(
        partial(reserve, held=10), "moot mcp, tool scope, action reserve", f"It is {SIGNED}.", "mcp"
    ),
    "reserve-10000": Offered(
        partial(reserve, held=10_000),
        "moot mcp, tool scope, action reserve",
        f"It is {SIGNED}.",
        "mcp",
    ),
    "tools": Offered(tools, "moot mcp, tools/list", "", "mcp"),
    "memory": Offered(
        memory, "moot mcp after its first answer", "One such server for each agent.", "mcp"
    ),
}

if __name__ == "__main__":
    serve(OFFERED)
