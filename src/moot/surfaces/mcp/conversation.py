"""One client's requests and notifications, handed to the SDK in the order in which they come.

The SDK decides what each means and how an answer looks in the revision that the client speaks. A
request is dealt with before the next is read; only one that waits has a task of its own.
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
# Whether a request may wait, so that others must not wait for it.
MayWait = Callable[[str, Params], bool]
_PIPE: Final = TransportContext(kind="jsonrpc", can_send_request=False)


class RequestChannel:
    """What the SDK may do while it deals with a message: nothing is asked of a client here."""

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
    """What one client says, from its first message to its last."""

    def __init__(self, server: Server[Any], output: Output, may_wait: MayWait) -> None:
        self._output = output
        self._may_wait = may_wait
        self._connection = Connection.for_loop(RequestChannel())
        self._runner = ServerRunner(server, self._connection, {})
        self._answer_without_handshake = modern_on_request(server, {})
        self._waiting: dict[types.RequestId, asyncio.Task[None]] = {}

    async def listen(self, messages: AsyncIterator[Message]) -> None:
        """Deal with every message until there are no more."""
        try:
            async for message in messages:
                await self._take(message)
        finally:
            await aclose_shielded(self._connection)

    async def finish_waiting(self) -> None:
        """Let what still waits come to its end."""
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)

    async def _take(self, message: Message) -> None:
        params = message.params or {}
        if not message.method:
            return  # an answer, but nothing was asked
        if message.id is msgspec.UNSET:
            await self._notice(message.method, params)
            return
        address = coerce_request_id(message.id)
        if address not in self._waiting and self._may_wait(message.method, params):
            waiting = asyncio.create_task(self._answer(message.id, message.method, params))
            self._waiting[address] = waiting
            waiting.add_done_callback(lambda _: self._waiting.pop(address))
            await asyncio.sleep(0)  # it begins before the next message is read
        else:
            await self._answer(message.id, message.method, params)

    async def _notice(self, method: str, params: Params) -> None:
        """A cancelled request that waits ends without an answer; what was done stays done."""
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
        """Newer revisions have no handshake: each request names its own (`_meta`)."""
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
