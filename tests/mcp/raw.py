"""A server process spoken to line by line: for what no well-behaved client would send."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.mcp.client import SECONDS
from tests.project import MOOT, Project

VERSION = "2025-06-18"


class RawServer:
    """Its standard input and output; a read that takes too long kills it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._number = 0

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: dict[str, Any]) -> None:
        self.write(json.dumps(message).encode())

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        watchdog = threading.Timer(SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        assert line, "the server said nothing"
        message: dict[str, Any] = json.loads(line)
        return message

    def request(self, method: str, number: int | str, /, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def call(self, number: int | str, tool: str, /, **arguments: Any) -> None:
        self.request("tools/call", number, name=tool, arguments=arguments)

    def greet(self, version: str = VERSION) -> dict[str, Any]:
        client = {"name": "raw", "version": "1"}
        self.request(
            "initialize", "hello", protocolVersion=version, capabilities={}, clientInfo=client
        )
        answer = self.read()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS)


@contextmanager
def raw_server(project: Project, agent: str | None = "amber-otter") -> Iterator[RawServer]:
    env = {**project.env, **({} if agent is None else {"MOOT_AGENT": agent})}
    process = subprocess.Popen(
        (*MOOT, "mcp"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=project.root,
        env={**env, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
    try:
        yield RawServer(process)
    finally:
        process.kill()
        process.wait(SECONDS)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def data_of(message: dict[str, Any]) -> Any:
    """The data of a call's answer."""
    envelope = message["result"]["structuredContent"]
    assert envelope["ok"], envelope["error"]
    return envelope["data"]
