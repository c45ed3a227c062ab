"""Just enough of an MCP client to time a server: over pipes, and over HTTP. Standard library."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

_CLIENT = {"name": "bench", "version": "1"}
_GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}


class ToolFailed(Exception):
    """The server answered with an error."""


def result_of(answer: Mapping[str, Any]) -> Any:
    """What a call gave back, or `ToolFailed`."""
    result = answer.get("result")
    if "error" in answer or result is None:
        raise ToolFailed(json.dumps(answer)[:300])
    if result.get("isError"):
        raise ToolFailed(" ".join(part.get("text", "") for part in result["content"])[:300])
    return result


def count_tokens(tools: Any) -> float:
    """As the page says: bytes of the answer, divided by four."""
    return len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode()) / 4


class PipeClient:
    """A server as a child process that speaks over its standard input and output."""

    def __init__(self, command: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._numbers = count(1)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=env
        )
        self.pid = self._process.pid
        self.ask("initialize", **_GREETING)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == number:
                return result_of(answer)
        raise ToolFailed("the server closed its output")

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> PipeClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        self._process.stdout.close()


class HttpClient:
    """A server on loopback that answers each POST; one connection, kept open."""

    def __init__(self, port: int, path: str) -> None:
        self._numbers, self._path, self._session = count(1), path, ""
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=140)
        self.ask("initialize", **_GREETING)
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=tool, arguments=arguments)

    def ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        text = self._post({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return result_of(_find_answer(text, number))

    def _post(self, message: Mapping[str, Any]) -> str:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        self._connection.request("POST", self._path, json.dumps(message), headers)
        response = self._connection.getresponse()
        self._session = response.getheader("Mcp-Session-Id") or self._session
        text = response.read().decode()
        if response.status >= 400:
            raise ToolFailed(f"HTTP {response.status}: {text[:200]}")
        return text

    def renew(self) -> None:
        """Servers close what was idle for some seconds: before a round, connect again, untimed."""
        self._connection.close()
        self._connection.connect()

    def close(self) -> None:
        self._connection.close()


def _find_answer(text: str, number: int) -> Any:
    """As one JSON value, or as the events of a stream."""
    events = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    for part in events or [text]:
        answer = json.loads(part)
        if answer.get("id") == number:
            return answer
    raise ToolFailed(f"no answer to {number}: {text[:200]}")


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    """Until somebody listens there, or the process that should is gone."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.connect()
        except OSError:
            time.sleep(0.05)
        else:
            return
        finally:
            connection.close()
    raise ToolFailed(f"nobody listens on port {port}; the server's code is {process.poll()}")
