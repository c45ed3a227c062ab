"""The SDK's own client on a real server process, told what to do in a few lines.

    with connected(project, "amber-otter") as client:
        client.call("scope", action="reserve", paths=["src"])

The client lives in an event loop of its own thread, so that a test reads from top to bottom.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from mcp_types import CallToolResult, InitializeResult, ListToolsResult

from mcp import ClientSession, StdioServerParameters, stdio_client
from tests.project import MOOT, Project

SECONDS = 60.0  # a server that takes longer than this has hung
Got = TypeVar("Got")


class Client:
    """One connected client; every call waits for its answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._stack = AsyncExitStack()
        self.session: ClientSession
        self.greeting: InitializeResult

    async def connect(self, parameters: StdioServerParameters) -> None:
        reads, writes = await self._stack.enter_async_context(stdio_client(parameters))
        self.session = await self._stack.enter_async_context(ClientSession(reads, writes))
        self.greeting = await self.session.initialize()

    async def leave(self) -> None:
        await self._stack.aclose()

    def wait_for(self, doing: Coroutine[Any, Any, Got]) -> Got:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(SECONDS)

    def tools(self) -> ListToolsResult:
        return self.wait_for(self.session.list_tools())

    def raw(self, tool: str, /, **arguments: Any) -> CallToolResult:
        answer = self.wait_for(self.session.call_tool(tool, arguments))
        assert isinstance(answer, CallToolResult)
        return answer

    def reply(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The whole envelope; both forms of it say the same."""
        answer = self.raw(tool, **arguments)
        (part,) = answer.content
        assert part.type == "text"
        envelope: dict[str, Any] = json.loads(part.text)
        assert answer.structured_content == envelope
        assert answer.is_error is not envelope["ok"]
        return envelope

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """The data of a call that must succeed."""
        envelope = self.reply(tool, **arguments)
        assert envelope["ok"], envelope["error"]
        return envelope["data"]

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """The code with which a call is refused."""
        envelope = self.reply(tool, **arguments)
        assert not envelope["ok"], envelope["data"]
        code: str = envelope["error"]["code"]
        return code


def server_of(project: Project, agent: str | None = None, **settings: str) -> StdioServerParameters:
    """How the server is started: as `agent`, else under no name."""
    named = {} if agent is None else {"MOOT_AGENT": agent}
    env = {**project.env, **named, **settings}
    command, *words = (*MOOT, "mcp")
    return StdioServerParameters(command=command, args=words, env=env, cwd=project.root)


@contextmanager
def connected(project: Project, agent: str | None = None, **settings: str) -> Iterator[Client]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    client, ready, over = Client(loop), threading.Event(), asyncio.Event()

    async def live() -> None:  # entered and left by one task, as the SDK wants it
        try:
            await client.connect(server_of(project, agent, **settings))
            ready.set()
            await over.wait()
        finally:
            ready.set()
            await client.leave()

    life = asyncio.run_coroutine_threadsafe(live(), loop)
    try:
        ready.wait(SECONDS)
        if life.done():
            life.result()
        yield client
    finally:
        loop.call_soon_threadsafe(over.set)
        life.result(SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(SECONDS)
        loop.close()


def sized(listing: ListToolsResult) -> int:
    """Bytes of a whole `tools/list` answer."""
    return len(listing.model_dump_json(by_alias=True, exclude_none=True).encode(errors="strict"))
