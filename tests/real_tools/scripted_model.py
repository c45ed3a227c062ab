"""A model that does what a test says: it plays the four model APIs the tools speak, on loopback.

`Model(steps)` answers the request that already holds N turns of the model with step N, so it
keeps no state of a conversation and side requests (titles, summaries) disturb nothing. A
sub-agent is told from its session by a word in what it was asked, and has steps of its own. What
the model would have read is kept in `read`. It shows what tools do, not what a model would choose.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from typing import Any, NamedTuple, Self

Json = dict[str, Any]
END = "All done."


class Use(NamedTuple):
    """Call a tool: with arguments, or with free text where the tool takes that."""

    tool: str
    args: Json
    text: str | None = None


class Turn(NamedTuple):
    """What is asked for now: how many turns the model has had, what it may call, and what it was
    asked in the beginning."""

    number: int
    offered: dict[str, Json]
    asked: str = ""


# One call, or several at once.
Step = Use | list[Use]
MAIN = ""
SEARCH = "tool_search"
MOST_SEARCHES = 20


def _uses_of(step: Step) -> list[Use]:
    return [step] if isinstance(step, Use) else step


def _nothing_happens(_who: str, _number: int) -> None:
    """Nobody waits for a turn."""


class Model:
    def __init__(
        self,
        *steps: Step,
        sub_agents: Mapping[str, Sequence[Step]] | None = None,
        before_turn: Callable[[str, int], None] = _nothing_happens,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """`sub_agents` are the steps of the agent asked with that word. `before_turn` is called
        with who (that word, or MAIN) and the turn's number, and may wait. `meanwhile` happens once,
        while the model thinks for the first time."""
        self.scripts: dict[str, Sequence[Step]] = {**(sub_agents or {}), MAIN: steps}
        self._before_turn = before_turn
        self._meanwhile = meanwhile
        self._searched_again: Counter[str] = Counter()
        self.read: list[Json] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def heard(self) -> str:
        """Everything the model has been sent, as text."""
        return "\n".join(text for body in self.read for text in _texts(body))

    @property
    def heard_last(self) -> str:
        """The whole conversation, as the last request had it."""
        return "\n".join(_texts(self.read[-1]))

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, turn: Turn) -> list[Use] | str:
        """The step of this turn; words where no tool is offered or the script has ended."""
        if turn.offered and (happens := self._meanwhile) is not None:
            self._meanwhile = None
            happens()
        if not turn.offered:
            return END
        who = next(name for name in self.scripts if name in turn.asked)
        self._before_turn(who, turn.number)
        number = turn.number - self._searched_again[who]
        if number >= len(self.scripts[who]):
            return END
        uses = _uses_of(self.scripts[who][number])
        missing = [use.tool for use in uses if use.tool not in turn.offered]
        before = _uses_of(self.scripts[who][number - 1]) if missing and number else []
        if before and before[0].tool == SEARCH and self._searched_again[who] < MOST_SEARCHES:
            self._searched_again[who] += 1  # a server that starts late is found late
            return before
        return f"no tool called {missing[0]} is offered" if missing else uses

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


Answer = Callable[[Turn], "list[Use] | str"]
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


def _asked(turns: Iterable[Json], is_ours: Callable[[Json], bool]) -> str:
    """What stands before the model's first turn."""
    return "\n".join(_texts(list(takewhile(lambda one: not is_ours(one), turns))))


def _is_assistant(turn: Json) -> bool:
    return bool(turn.get("role") == "assistant")


def messages(body: Json, answer: Answer) -> Iterator[Json]:
    """Anthropic."""
    number = sum(map(_is_assistant, body["messages"]))
    offered = {tool["name"]: tool for tool in body.get("tools", []) if "name" in tool}
    step = answer(Turn(number, offered, _asked(body["messages"], _is_assistant)))
    is_stream = bool(body.get("stream"))
    content: list[Json] = []
    if isinstance(step, str):
        content.append({"type": "text", "text": step})
    else:
        for place, use in enumerate(step):
            made = {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": use.tool}
            content.append({**made, "input": use.args})
    stop = "end_turn" if isinstance(step, str) else "tool_use"
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [] if is_stream else content,
        "stop_reason": None if is_stream else stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    for place, block in enumerate(content):
        yield from _message_block(place, block)
    ended = {"stop_reason": stop, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _message_block(place: int, block: Json) -> Iterator[Json]:
    """A text or a call begins empty and comes in pieces, here one."""
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        arguments = json.dumps(block["input"])
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
    yield {"type": "content_block_start", "index": place, "content_block": empty}
    yield {"type": "content_block_delta", "index": place, "delta": delta}
    yield {"type": "content_block_stop", "index": place}


_CALLS = ("function_call", "custom_tool_call", "tool_search_call")


def _is_of_model(item: Json) -> bool:
    return _is_assistant(item) or item.get("type") in _CALLS


def responses(body: Json, answer: Answer) -> Iterator[Json]:
    """OpenAI Responses. Neighbouring items of the model are one turn."""
    items = body["input"] if isinstance(body["input"], list) else []
    ours = [_is_of_model(item) for item in items]
    number = sum(now and not before for before, now in zip([False, *ours], ours, strict=False))
    late = [tool for item in items for tool in item.get("tools", [])]
    offered = {tool["name"]: tool for tool in _flat([*body.get("tools", []), *late])}
    step = answer(Turn(number, offered, _asked(items, _is_of_model)))
    made_items = list(_response_items(step, number, offered))
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    made: Json = {"id": f"resp_{number}", "object": "response", "created_at": 1, "model": "fake"}
    running = {**made, "status": "in_progress", "output": []}
    done = {**made, "status": "completed", "output": made_items, "usage": usage}
    events: list[Json] = [{"type": "response.created", "response": running}]
    for place, item in enumerate(made_items):
        told: Json = {"output_index": place, "item": item}
        events += [{"type": f"response.output_item.{kind}", **told} for kind in ("added", "done")]
    events.append({"type": "response.completed", "response": done})
    yield from ({**event, "sequence_number": place} for place, event in enumerate(events))


def _response_items(
    step: list[Use] | str, number: int, offered: Mapping[str, Json]
) -> Iterator[Json]:
    if isinstance(step, str):
        words = [{"type": "output_text", "text": step, "annotations": []}]
        base = {"id": f"item_{number}", "status": "completed", "role": "assistant"}
        yield {**base, "type": "message", "content": words}
        return
    for place, use in enumerate(step):
        item: Json = {"id": f"item_{number}_{place}", "status": "completed", "name": use.tool}
        item |= {"call_id": f"call_{number}_{place}"}
        item |= {key: value for key, value in offered[use.tool].items() if key == "namespace"}
        if use.text is not None:
            yield {**item, "type": "custom_tool_call", "input": use.text}
        elif use.tool == SEARCH:  # what it finds is offered from the next turn on
            del item["name"]
            searched: Json = {"type": "tool_search_call", "execution": "client"}
            yield {**item, **searched, "arguments": use.args}
        else:
            yield {**item, "type": "function_call", "arguments": json.dumps(use.args)}


def _flat(tools: Iterable[Json]) -> Iterator[Json]:
    """Newer models are offered their tools in namespaces."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from ({**inner, "namespace": tool["name"]} for inner in _flat(tool["tools"]))
        else:
            yield {**tool, "name": tool.get("name") or tool["type"]}


def chat(body: Json, answer: Answer) -> Iterator[Any]:
    """OpenAI Chat Completions."""
    turns = [one for one in body["messages"] if one["role"] != "system"]
    number = sum(map(_is_assistant, turns))
    tools = (tool.get("function", tool) for tool in body.get("tools") or [])
    offered = {tool["name"]: tool for tool in tools}
    step = answer(Turn(number, offered, _asked(turns, _is_assistant)))
    delta: Json = {"role": "assistant", "content": step if isinstance(step, str) else None}
    if not isinstance(step, str):
        delta["tool_calls"] = [
            {
                "index": place,
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": use.tool, "arguments": json.dumps(use.args)},
            }
            for place, use in enumerate(step)
        ]
    base: Json = {"id": f"chat_{number}", "created": 1, "model": "fake"}
    end = "stop" if isinstance(step, str) else "tool_calls"
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
    offered = {one["name"]: one for some in lists for one in some}
    asked = _asked(body.get("contents", []), lambda content: "functionCall" in str(content))
    step = answer(Turn(number, offered, asked))
    if isinstance(step, str):
        config = body.get("generationConfig", {})
        wants_json = config.get("responseMimeType") == "application/json"
        parts = [{"text": "{}" if wants_json else step}]
    else:
        parts = [{"functionCall": {"name": use.tool, "args": use.args}} for use in step]
    content = {"role": "model", "parts": parts}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": usage}


WIRES: dict[str, Wire] = {
    "/chat/completions": chat,
    "/responses": responses,
    "enerateContent": generate,
    "/messages": messages,
}
