"""The MCP server: how soon it answers, what a call costs beside the library's own, and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from bench.figure import Figure, at_most, ratio, value
from bench.ground import AGENT, Ground, keys_of
from bench.rounds import Measure, millis, take_turns
from moot.api.presence.scopes import release, reserve
from moot.api.session import Session
from moot.keys.folder import KeyFolder
from moot.protocols.presence.agent_names import NOUNS
from moot.surfaces.mcp import now

_MOOT = "from moot.surfaces.cli.entry import main; main()"
CALLS = 1_000
# A repository in which others work: a look at an empty one costs next to nothing.
OTHERS = tuple(f"busy-{noun}" for noun in NOUNS[:30])


def measure(ground: Ground) -> Iterator[Figure]:
    place = ground.new("mcp", (AGENT, *OTHERS))
    with _session(place) as session:
        for name in OTHERS:
            reserve(session.acting_as(name), [f"src/{name}"], work=f"T-{name}")
    yield _first_answer(ground, place)
    with McpServer(place) as server:
        yield value(
            "moot mcp, memory at its first answer", "MB", server.megabytes(), target=at_most(90)
        )
        with _session(place) as session:
            yield _now(ground, server, session)
            yield _reserve(ground, server, session)
        yield _memory(server)


class McpServer:
    """A server process, greeted; each call waits for its answer."""

    def __init__(self, place: Path) -> None:
        env = {**os.environ, "MOOT_KEYS": str(keys_of(place)), "MOOT_AGENT": AGENT}
        self._numbers = count()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MOOT, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=place,
            env=env,
        )
        client = {"name": "bench", "version": "1"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)

    def call(self, tool: str, **arguments: Any) -> None:
        answer = self._ask("tools/call", name=tool, arguments=arguments)
        assert not answer["result"]["isError"], answer

    def _ask(self, method: str, **params: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def megabytes(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
        return int(line.split()[1]) / 1_000

    def __enter__(self) -> McpServer:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def _first_answer(ground: Ground, place: Path) -> Figure:
    def ours() -> None:
        with McpServer(place):
            pass

    rounds = take_turns(
        millis(ours),
        _process([sys.executable, "-c", "import mcp.server"], place),
        ground.pick(9, 5),
    )
    name, against = "moot mcp, first answer", "import mcp.server"
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=at_most(1.3))


def _process(command: list[str], place: Path) -> Measure:
    return millis(lambda: subprocess.run(command, cwd=place, check=True))


def _session(place: Path) -> Session:
    return Session(place, acting=AGENT, keys=KeyFolder(keys_of(place)))


def _now(ground: Ground, server: McpServer, session: Session) -> Figure:
    rounds = take_turns(
        millis(lambda: server.call("now"), 20),
        millis(lambda: now.look(session), 20),
        ground.pick(15, 7),
    )
    name, against = "moot mcp, now", "the library's agenda and status"
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=at_most(2))


def _reserve(ground: Ground, server: McpServer, session: Session) -> Figure:
    """Reserved and given back, so that nothing piles up. Both commit durably, in one ledger."""

    def ours() -> None:
        server.call("scope", action="reserve", paths=["src/ours"])
        server.call("scope", action="release", paths=["src/ours"])

    def raw() -> None:
        reserve(session, ["src/raw"])
        release(session, ["src/raw"])

    rounds = take_turns(millis(ours, 10), millis(raw, 10), ground.pick(15, 7))
    name, against = "moot mcp, reserve and release", "the library's"
    return ratio(name, "ms", rounds.ours, rounds.raw, against=against, target=at_most(1.2))


def _memory(server: McpServer) -> Figure:
    for _ in range(100):  # what is loaded on first use is not growth
        server.call("scope", action="list")
    before = server.megabytes()
    for _ in range(CALLS):
        server.call("now")
    grown = server.megabytes() - before
    return value(f"moot mcp, memory grown in {CALLS} calls", "MB", grown, target=at_most(2))
