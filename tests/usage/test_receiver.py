"""The listener of a run: who may report, in which form, how much; what is refused takes nothing."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from moot.coding_tools.starts import TOKEN_HEADER, OtlpAddress
from moot.usage.receiver import JSON, MOST_BYTES, MOST_CONNECTIONS, PROTOBUF, receiving
from moot.usage.tool_reports import ModelCall
from tests.usage import reports

BODY = json.dumps(reports.log(reports.claude_call())).encode()
SECONDS = 60.0


class Taken:
    """What the listener took, and where it listens."""

    def __init__(self, address: OtlpAddress, calls: list[ModelCall]) -> None:
        self.address = address
        self.calls = calls

    @property
    def place(self) -> tuple[str, int]:
        where = urlsplit(self.address.endpoint)
        assert where.hostname is not None
        assert where.port is not None
        return where.hostname, where.port

    def headers(self, **more: str | None) -> dict[str, str]:
        usual: dict[str, str | None] = {TOKEN_HEADER: self.address.token, "content-type": JSON}
        given = {**usual, **{name.replace("_", "-"): value for name, value in more.items()}}
        return {name: value for name, value in given.items() if value is not None}

    def post(
        self, path: str, body: bytes, headers: Mapping[str, str], method: str = "POST"
    ) -> tuple[int, bytes]:
        line = http.client.HTTPConnection(*self.place, timeout=SECONDS)
        try:
            line.request(method, path, body, dict(headers))
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()


@contextmanager
def listening() -> Iterator[Taken]:
    calls: list[ModelCall] = []
    with receiving(calls.extend) as address:
        yield Taken(address, calls)


def test_a_report_with_the_token_is_taken() -> None:
    with listening() as taken:
        assert taken.post("/v1/logs", BODY, taken.headers()) == (200, b"{}")
        assert [call.tool for call in taken.calls] == ["claude"]


def test_it_listens_on_loopback_alone() -> None:
    with listening() as taken:
        assert taken.place[0] == "127.0.0.1"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(taken.place, timeout=SECONDS)


@pytest.mark.parametrize(
    ("status", "path", "method", "headers"),
    [
        (401, "/v1/logs", "POST", {"x_moot_token": None}),
        (401, "/v1/logs", "POST", {"x_moot_token": "guessed"}),
        (401, "/v1/logs", "POST", {"x_moot_token": "ÿ"}),
        (403, "/v1/logs", "POST", {"host": "localhost"}),
        (403, "/v1/logs", "POST", {"host": "evil.example"}),
        (403, "/v1/logs", "POST", {"origin": "http://127.0.0.1:80"}),
        (404, "/v1/profiles", "POST", {}),
        (404, "/v1/../v1/logs", "POST", {}),
        (404, "/", "POST", {}),
        (405, "/v1/logs", "PUT", {}),
        (405, "/v1/logs", "GET", {}),
        (413, "/v1/logs", "POST", {"content_length": str(MOST_BYTES + 1)}),
        (415, "/v1/logs", "POST", {"content_type": "text/plain"}),
        (415, "/v1/logs", "POST", {"content_type": None}),
        (415, "/v1/logs", "POST", {"content_encoding": "br"}),
        (400, "/v1/logs", "POST", {"content_encoding": "gzip"}),
        (400, "/v1/logs", "POST", {"content_type": PROTOBUF}),
    ],
)
def test_others_are_refused_and_nothing_is_taken(
    status: int, path: str, method: str, headers: dict[str, str | None]
) -> None:
    with listening() as taken:
        code, body = taken.post(path, BODY, taken.headers(**headers), method)
        assert (code, body) == (status, b"")
        assert taken.calls == []
        assert taken.post("/v1/logs", BODY, taken.headers())[0] == 200


def test_two_runs_do_not_take_each_others_reports() -> None:
    with listening() as one, listening() as other:
        assert one.address.token != other.address.token
        assert other.post("/v1/logs", BODY, one.headers())[0] == 401
        assert (one.calls, other.calls) == ([], [])


def chunked(taken: Taken, *parts: bytes) -> bytes:
    host, port = taken.place
    head = f"POST /v1/logs HTTP/1.1\r\nHost: {host}:{port}\r\nTransfer-Encoding: chunked\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in taken.headers().items())
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))
    return f"{head}\r\n".encode() + body


def test_a_body_in_chunks_is_taken_and_the_line_stays_open() -> None:
    with listening() as taken, socket.create_connection(taken.place, timeout=SECONDS) as line:
        for _ in range(2):
            line.sendall(chunked(taken, BODY[:30], BODY[30:]))
            answer = http.client.HTTPResponse(line)
            answer.begin()
            assert (answer.status, answer.read()) == (200, b"{}")
        assert len(taken.calls) == 2


def test_a_report_that_arrived_before_the_end_counts() -> None:
    calls: list[ModelCall] = []
    with receiving(calls.extend) as address:
        taken = Taken(address, calls)
        first = socket.create_connection(taken.place, timeout=SECONDS)
        first.sendall(chunked(taken, BODY))
        answer = http.client.HTTPResponse(first)
        answer.begin()
        answer.read()
        first.sendall(chunked(taken, BODY))  # and nobody waits for its answer
    first.close()
    assert len(calls) == 2


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50),
        b"POST /v1/logs HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
        b"POST /v1/logs HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000,
        b"\n" * 10_000,
    ],
    ids=["tls", "two-lengths", "negative", "long-header", "lines"],
)
def test_what_is_no_http_is_dropped_and_others_are_served(sent: bytes) -> None:
    with listening() as taken:
        with socket.create_connection(taken.place, timeout=SECONDS) as line:
            try:
                line.sendall(sent)
                line.shutdown(socket.SHUT_WR)
                while line.recv(1 << 16):
                    pass
            except TimeoutError:
                raise
            except OSError:  # dropped with something unread, at whichever of these steps
                pass
        assert taken.calls == []
        assert taken.post("/v1/logs", BODY, taken.headers())[0] == 200


def test_too_many_at_once_are_turned_away_and_the_first_are_served() -> None:
    with listening() as taken:
        lines = [
            socket.create_connection(taken.place, timeout=SECONDS) for _ in range(MOST_CONNECTIONS)
        ]
        for line in lines:
            line.sendall(chunked(taken, BODY))
            answer = http.client.HTTPResponse(line)
            answer.begin()
            assert answer.read() == b"{}"
        with socket.create_connection(taken.place, timeout=SECONDS) as late:
            assert late.recv(1) == b""
        for line in lines:
            line.close()
        assert len(taken.calls) == MOST_CONNECTIONS


def test_many_report_at_once_and_nothing_is_lost() -> None:
    with listening() as taken:

        def report() -> None:
            for _ in range(10):
                assert taken.post("/v1/logs", BODY, taken.headers())[0] == 200

        threads = [threading.Thread(target=report) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert len(taken.calls) == 60
