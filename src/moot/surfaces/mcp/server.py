"""The server: the official SDK speaks the protocol, `calls.py` does the work.

All calls run one after the other in the thread that reads them: no call sees another half done, and
none pays for a change of threads. Only a `now` that waits gets its own thread, while it waits.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server

from moot.core.version import VERSION
from moot.surfaces.mcp.arguments import schema_of
from moot.surfaces.mcp.calls import Calls
from moot.surfaces.mcp.conversation import Conversation
from moot.surfaces.mcp.identity import Caller, withhold_passphrase
from moot.surfaces.mcp.results import Reply, encode_reply
from moot.surfaces.mcp.tools import INSTRUCTIONS, TOOLS, ToolListing
from moot.surfaces.mcp.wire import Input, Output

# These signals end the server as the end of its input does: the agent releases what it holds.
ENDING_SIGNALS: Final = ("SIGTERM", "SIGINT", "SIGHUP")


def serve(env: Mapping[str, str], folder: Path) -> None:
    """Serve one client on standard input and output until it disconnects."""
    withhold_passphrase()
    caller = Caller(env, folder)
    with caller.answering_hooks():
        asyncio.run(_serve(Calls(caller)))


async def _serve(calls: Calls) -> None:
    output = Output()
    lines = Input(output)
    for name in ENDING_SIGNALS:
        with suppress(AttributeError, NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), lines.end)
    queue = CallQueue(calls)
    conversation = Conversation(make_server(queue), output, queue.may_wait)
    try:
        await conversation.listen(lines.messages())
    finally:
        queue.end_waiting()
        await conversation.finish_waiting()
        await asyncio.get_running_loop().shutdown_default_executor()
        calls.close()


class CallQueue:
    """Runs the calls that the SDK receives, one after the other."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._ended = threading.Event()
        self._in_progress: set[str | int] = set()

    def may_wait(self, method: str, params: Mapping[str, Any]) -> bool:
        """Return whether a request is a `now` that may wait: later requests run meanwhile."""
        return (
            method == "tools/call" and params.get("name") == "now" and bool(params.get("arguments"))
        )

    async def run(self, request: str | int, tool: str, given: Mapping[str, Any]) -> Reply:
        """Do a call; refuse one with the id of a call in progress, as no one could cancel it."""
        if request in self._in_progress:
            return self._calls.refuse_duplicate(tool)
        self._in_progress.add(request)
        try:
            if tool == "now":
                await self._wait(given)
            return self._calls.answer(tool, given)
        finally:
            self._in_progress.discard(request)

    async def _wait(self, given: Mapping[str, Any]) -> None:
        """Wait in a thread, which ends soon after the client cancels the call or disconnects."""
        session = self._calls.waiting_session(given)
        if session is None:
            return
        cancelled = threading.Event()
        try:
            await asyncio.to_thread(
                self._calls.wait, session, given, lambda: cancelled.is_set() or self._ended.is_set()
            )
        finally:
            cancelled.set()

    def end_waiting(self) -> None:
        """End every wait: each waiting `now` returns at once."""
        self._ended.set()


def make_server(queue: CallQueue) -> Server[Any]:
    """Make the SDK's server with our tools."""

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in TOOLS])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        reply = await queue.run(context.request_id, params.name, params.arguments or {})
        text = encode_reply(reply)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content=msgspec.json.decode(text),
            is_error=not reply.ok,
        )

    server: Server[Any] = Server(
        "moot",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # the SDK's tracing; no exporter is set up here
    return server


def describe_tool(tool: ToolListing) -> types.Tool:
    """Describe a tool for the protocol. No tool sends data elsewhere or destroys anything."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.arguments),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.only_reads, destructive_hint=False, open_world_hint=False
        ),
    )
