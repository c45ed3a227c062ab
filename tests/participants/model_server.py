"""A model that speaks the chat protocol of OpenAI, on the loopback; each request takes a step."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """One answer: a status with a body, sent at once or in pieces until the client gives up."""

    status: int = 200
    body: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    stall: bool = False
    cut: bool = False


def said(text: str | None = None, call: Any = None) -> Reply:
    """A completion: text, or a call of the tool that is there for the reply."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if call is not None:
        arguments = call if isinstance(call, str) else json.dumps(call)
        function = {"name": "reply", "arguments": arguments}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [choice],
        "usage": usage,
    }
    return Reply(body=body)


def trouble(status: int, code: str = "trouble", after: str | None = None) -> Reply:
    body = {"error": {"message": f"this is {code}", "type": code, "code": code}}
    return Reply(status, body, (("retry-after", after),) if after else ())


class ModelServer:
    """The last step is repeated; `asked` holds what was sent. A step may look at that first."""

    def __init__(self, *steps: Reply | Callable[[dict[str, Any]], Reply]) -> None:
        self._steps = list(steps)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, asked: dict[str, Any], key: str) -> Reply:
        with self._lock:
            self.asked.append(asked)
            self.keys.append(key)
            step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        return step if isinstance(step, Reply) else step(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                asked = json.loads(self.rfile.read(length))
                reply = server.take(asked, self.headers["authorization"])
                try:
                    self._send(reply)
                except OSError:
                    self.close_connection = True

            def _send(self, reply: Reply) -> None:
                raw = (
                    reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                )
                self.send_response(reply.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                for name, value in reply.headers:
                    self.send_header(name, value)
                self.end_headers()
                if reply.cut or reply.stall:
                    self.wfile.write(raw[:1])
                    self.wfile.flush()
                    self.close_connection = True
                    if reply.stall:
                        server._over.wait(20)
                    return
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        return Handler
