"""A look-alike on another port of the same address, as any local program can serve one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = b"<!doctype html><meta charset=utf-8><title>Moot</title><p>the very same page</p>"


class LookAlike(ThreadingHTTPServer):
    """Remembers every cookie it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cookies: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: LookAlike

    def do_GET(self) -> None:
        self.server.cookies += self.headers.get_all("Cookie") or []
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def looking_alike() -> Iterator[LookAlike]:
    server = LookAlike()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)
