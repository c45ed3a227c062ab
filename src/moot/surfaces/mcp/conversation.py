"""Pass one client's requests and notifications to the SDK, in order.

The SDK interprets each message and forms the answer in the protocol revision of the client. Each
request is answered before the next is read; only a request that waits gets its own task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final

import anyio
import mcp_types as types
import msgspec
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import ServerRunner, aclose_shielded, modern_on_request
from mcp.shared.dispatcher import CallOptions, as_request_id, coerce_request_id
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.transport_context import TransportContext

from moot.surfaces.mcp.wire import Message, Output

Params = dict[str, Any]
# Returns whether a request may wait, so that later requests must not wait for it.
MayWait = Callable[[str, Params], bool]
_PIPE: Final = TransportContext(kind="jsonrpc", can_send_request=False)


class RequestChannel:
    """The SDK's channel to the client for one message. This server never sends requests."""

    transport = _PIPE
    can_send_request = False
    message_metadata = None

    def __init__(self, request_id: types.RequestId | None = None) -> None:
        self.request_id = request_id

    @property
    def cancel_requested(self) -> anyio.Event:
        """Never set: a request that waits is cancelled with its task."""
        return anyio.Event()

    async def send_raw_request(
        self, method: str, _params: Mapping[str, Any] | None, _opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """No tool notifies a client of anything."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """No tool reports progress."""


class Conversation:
    """The messages of one client, from the first to the last."""

    def __init__(self, server: Server[Any], output: Output, may_wait: MayWait) -> None:
        self._output = output
        self._may_wait = may_wait
        self._connection = Connection.for_loop(RequestChannel())
        self._runner = ServerRunner(server, self._connection, {})
        self._answer_without_handshake = modern_on_request(server, {})
        self._waiting: dict[types.RequestId, asyncio.Task[None]] = {}

    async def listen(self, messages: AsyncIterator[Message]) -> None:
        """Handle every message until the input ends."""
        try:
            async for message in messages:
                await self._handle(message)
        finally:
            await aclose_shielded(self._connection)

    async def finish_waiting(self) -> None:
        """Wait for the requests that still wait."""
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)

    async def _handle(self, message: Message) -> None:
        params = message.params or {}
        if not message.method:
            return  # a response, although this server sent no request
        if message.id is msgspec.UNSET:
            await self._notice(message.method, params)
            return
        address = coerce_request_id(message.id)
        if address not in self._waiting and self._may_wait(message.method, params):
            waiting = asyncio.create_task(self._answer(message.id, message.method, params))
            self._waiting[address] = waiting
            waiting.add_done_callback(lambda _: self._waiting.pop(address))
            await asyncio.sleep(0)  # let it start before the next message is read
        else:
            await self._answer(message.id, message.method, params)

    async def _notice(self, method: str, params: Params) -> None:
        """Handle a notification. A cancelled request that waits ends without an answer."""
        if method == "notifications/cancelled":
            cancelled = as_request_id(params.get("requestId"))
            waiting = None if cancelled is None else self._waiting.get(coerce_request_id(cancelled))
            if waiting is not None:
                waiting.cancel()
        await self._runner.on_notify(RequestChannel(), method, params)

    async def _answer(self, address: types.RequestId, method: str, params: Params) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": address}
        try:
            answer["result"] = await self._find_result(RequestChannel(address), method, params)
        except Exception as error:  # noqa: BLE001 - a client must get its answer
            problem = handler_exception_to_error_data(error) or types.ErrorData(
                code=types.INTERNAL_ERROR, message="Internal server error"
            )
            answer["error"] = problem.model_dump(mode="json", by_alias=True, exclude_none=True)
        self._output.write_line(msgspec.json.encode(answer))

    async def _find_result(
        self, channel: RequestChannel, method: str, params: Params
    ) -> dict[str, Any]:
        """Answer a request; in newer revisions, without a handshake, `_meta` names the revision."""
        meta = params.get("_meta")
        if (
            method == "initialize"
            or not isinstance(meta, dict)
            or types.PROTOCOL_VERSION_META_KEY not in meta
        ):
            return await self._runner.on_request(channel, method, params)
        route = classify_inbound_request({"method": method, "params": params})
        if isinstance(route, InboundLadderRejection):
            raise MCPError(code=route.code, message=route.message, data=route.data)
        return await self._answer_without_handshake(channel, method, params)
