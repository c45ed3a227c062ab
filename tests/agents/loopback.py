"""A model that does what a test says: it plays the four model APIs the tools speak, on loopback.

`Model(steps)` answers the request that already holds N turns of the model with step N, so it
keeps no state of a conversation and side requests (titles, summaries) disturb nothing. What the
model would have read is kept in `read`. It shows what tools do, not what a model would choose.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
END = "All done."


class Use(NamedTuple):
    """Call a tool: with arguments, or with free text where the tool takes that."""

    tool: str
    args: Json
    text: str | None = None


class Turn(NamedTuple):
    """What is asked for now: how many turns the model has had, and what it may call."""

    number: int
    offered: dict[str, Json]


class Model:
    def __init__(self, *steps: Use, meanwhile: Callable[[], None] | None = None) -> None:
        """`meanwhile` happens once, while the model thinks for the first time."""
        self.steps = steps
        self._meanwhile = meanwhile
        self.read: list[Json] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def heard(self) -> str:
        """Everything the model has been sent, as text."""
        return "\n".join(text for body in self.read for text in _texts(body))

    def __enter__(self) -> Model:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, turn: Turn) -> Use | str:
        """The step of this turn; words where no tool is offered or the script has ended."""
        if turn.offered and (happens := self._meanwhile) is not None:
            self._meanwhile = None
            happens()
        if not turn.offered or turn.number >= len(self.steps):
            return END
        step = self.steps[turn.number]
        return step if step.tool in turn.offered else f"no tool called {step.tool} is offered"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Silent: pytest shows what matters."""

            def do_GET(self) -> None:
                self._send(b'{"object": "list", "data": [], "models": []}', "application/json")

            def do_HEAD(self) -> None:
                self.do_GET()

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.partition("?")[0]
                wire = next((one for end, one in WIRES.items() if end in path), None)
                if wire is None:
                    self._send(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")
                    return
                body = json.loads(data)
                model.read.append(body)
                said = list(wire(body, model.answer))
                if body.get("stream") or "stream" in path:
                    self._send("".join(map(_event, said)).encode(), "text/event-stream")
                else:
                    self._send(json.dumps(_whole(said)).encode(), "application/json")

            def _send(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        return Handler


Answer = Callable[[Turn], "Use | str"]
Wire = Callable[[Json, Answer], Iterable[Any]]


def _event(said: Any) -> str:
    name = f"event: {said['type']}\n" if isinstance(said, dict) and "type" in said else ""
    return f"{name}data: {said if isinstance(said, str) else json.dumps(said)}\n\n"


def _whole(said: list[Any]) -> Any:
    """Without streaming: the object that stands in the first or last event."""
    last = [one for one in said if isinstance(one, dict)][-1]
    return last.get("response") or said[0].get("message") or last


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def messages(body: Json, answer: Answer) -> Iterator[Json]:
    """Anthropic."""
    number = sum(one["role"] == "assistant" for one in body["messages"])
    offered = {tool["name"]: tool for tool in body.get("tools", []) if "name" in tool}
    step = answer(Turn(number, offered))
    if isinstance(step, Use):
        block: Json = {"type": "tool_use", "id": f"toolu_{number}", "name": step.tool, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(step.args)}
        stop, content = "tool_use", {**block, "input": step.args}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": step}
        stop, content = "end_turn", {"type": "text", "text": step}
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [] if body.get("stream") else [content],
        "stop_reason": None if body.get("stream") else stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": stop, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def responses(body: Json, answer: Answer) -> Iterator[Json]:
    """OpenAI Responses. Neighbouring items of the model are one turn."""
    items = body["input"] if isinstance(body["input"], list) else []
    ours = [
        item.get("role") == "assistant"
        or item.get("type") in ("function_call", "custom_tool_call", "tool_search_call")
        for item in items
    ]
    number = sum(now and not before for before, now in zip([False, *ours], ours, strict=False))
    late = [tool for item in items for tool in item.get("tools", [])]
    offered = {tool["name"]: tool for tool in _flat([*body.get("tools", []), *late])}
    step = answer(Turn(number, offered))
    base: Json = {"id": f"item_{number}", "status": "completed"}
    if isinstance(step, Use):
        base |= {"call_id": f"call_{number}", "name": step.tool}
        base |= {key: value for key, value in offered[step.tool].items() if key == "namespace"}
        if step.text is not None:
            item = {**base, "type": "custom_tool_call", "input": step.text}
        elif step.tool == "tool_search":  # what it finds is offered from the next turn on
            del base["name"]
            item = {**base, "type": "tool_search_call", "execution": "client"}
            item["arguments"] = step.args
        else:
            item = {**base, "type": "function_call", "arguments": json.dumps(step.args)}
    else:
        words = [{"type": "output_text", "text": step, "annotations": []}]
        item = {**base, "type": "message", "role": "assistant", "content": words}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    made: Json = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "fake"}
    running = {**made, "status": "in_progress", "output": []}
    done = {**made, "status": "completed", "output": [item], "usage": usage}
    events: list[Json] = [
        {"type": "response.created", "response": running},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
    yield from ({**event, "sequence_number": place} for place, event in enumerate(events))


def _flat(tools: Iterable[Json]) -> Iterator[Json]:
    """Newer models are offered their tools in namespaces."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from ({**inner, "namespace": tool["name"]} for inner in _flat(tool["tools"]))
        else:
            yield {**tool, "name": tool.get("name") or tool["type"]}


def chat(body: Json, answer: Answer) -> Iterator[Any]:
    """OpenAI Chat Completions."""
    number = sum(one["role"] == "assistant" for one in body["messages"])
    tools = (tool.get("function", tool) for tool in body.get("tools") or [])
    step = answer(Turn(number, {tool["name"]: tool for tool in tools}))
    delta: Json = {"role": "assistant", "content": None if isinstance(step, Use) else step}
    if isinstance(step, Use):
        function = {"name": step.tool, "arguments": json.dumps(step.args)}
        called = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        delta["tool_calls"] = [called]
    base: Json = {"id": f"chat_{number}", "created": 1, "model": "fake"}
    end = "tool_calls" if isinstance(step, Use) else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    if not body.get("stream"):
        choice = {"index": 0, "message": delta, "finish_reason": end}
        yield {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        return
    chunk = {**base, "object": "chat.completion.chunk"}
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "finish_reason": end}
    yield {**chunk, "choices": [last], "usage": usage}
    yield "[DONE]"


def generate(body: Json, answer: Answer) -> Iterator[Json]:
    """Gemini. The tool itself puts model turns into the history: only ours are counted."""
    number = 0
    for content in body.get("contents", []):
        parts = content.get("parts", []) if content.get("role") == "model" else []
        number += any("functionCall" in part or part.get("text") == END for part in parts)
    lists = (tool.get("functionDeclarations", []) for tool in body.get("tools", []))
    declared = [one for some in lists for one in some]
    step = answer(Turn(number, {one["name"]: one for one in declared}))
    if isinstance(step, Use):
        part: Json = {"functionCall": {"name": step.tool, "args": step.args}}
    else:
        config = body.get("generationConfig", {})
        wants_json = config.get("responseMimeType") == "application/json"
        part = {"text": "{}" if wants_json else step}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": usage}


WIRES: dict[str, Wire] = {
    "/chat/completions": chat,
    "/responses": responses,
    "enerateContent": generate,
    "/messages": messages,
}
