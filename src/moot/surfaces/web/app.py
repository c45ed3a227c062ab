"""The application: static files, reports, downloads, and the API.

Static files are read once and served by name: no path of a request reaches the disk. Operations of
the library do the work (`routes.py`); only access, tickets, live events and files are handled here.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from moot.api.page.reports import report
from moot.api.workspace.artifacts import show as show_artifact
from moot.core.errors import Malformed, MootError
from moot.pages import to_html
from moot.pages.style import CSS, POLICY
from moot.surfaces.web import answers
from moot.surfaces.web.access import COOKIE_SECONDS, Access
from moot.surfaces.web.answers import HttpAnswer, answer_error, answer_with
from moot.surfaces.web.live import Listeners, Watcher
from moot.surfaces.web.openapi import describe_api
from moot.surfaces.web.routes import MOST_TEXT, find_route, read_arguments

if TYPE_CHECKING:
    from moot.pages import Report
    from moot.surfaces.web.access import Message, Receive, Send
    from moot.surfaces.web.human_rulings import PreparedRulings
    from moot.surfaces.web.readers import Readers, RecordChecks


TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGE: Final = "index.html"
REPORT_STYLE: Final = "report.css"


class StaticFile(NamedTuple):
    body: bytes
    compressed: bytes
    content_type: str
    etag: str


def read_static_files() -> dict[str, StaticFile]:
    """Read every file in `static/`, by name, and the style of reports."""
    found = {REPORT_STYLE: _static_file(REPORT_STYLE, _report_style().encode())}
    for file in files("moot.surfaces.web").joinpath("static").iterdir():
        if file.name.rpartition(".")[2] in TYPES:
            found[file.name] = _static_file(file.name, file.read_bytes())
    return found


def _static_file(name: str, body: bytes) -> StaticFile:
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    content_type = TYPES[name.rpartition(".")[2]]
    return StaticFile(body, gzip.compress(body, mtime=0), content_type, etag)


def _report_style() -> str:
    """Return the stylesheet of a report for the page's shadow tree, whose root is `:host`."""
    return re.sub(r"(?<![\w.#-])(:root|html|body)\{", ":host{", CSS)


# A report or a stored file opens in a new tab with a ticket. A report has its own policy, which
# allows its one stylesheet; a stored file is only ever downloaded.

_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
OK: Final = 200


async def open_report(readers: Readers, name: str) -> Response:
    """Return a report as the page that `moot report` writes."""
    answer = await readers.run(lambda: _make_report(readers, unquote(name)))
    if answer.status != OK:
        return Response(answer.body, answer.status, media_type="application/json")
    policy = f"{POLICY}; frame-ancestors 'none'"
    return Response(
        answer.body,
        media_type="text/html; charset=utf-8",
        headers={"content-security-policy": policy},
    )


def _make_report(readers: Readers, name: str) -> HttpAnswer:
    try:
        page = report(readers.open_session(), name).report
    except MootError as error:
        return answer_error("report", error)
    shown: Report = page  # type: ignore[assignment]  # not UNSET, because no file was named
    return HttpAnswer(OK, to_html(shown).encode(), "")


async def draw_report(readers: Readers, name: str) -> HttpAnswer:
    """Return the same report for the page itself, which shows it in a shadow tree."""
    answer = await readers.run(lambda: _make_report(readers, unquote(name)))
    if answer.status != OK:
        return answer
    _, _, body = answer.body.decode().partition("<body>")  # its style is REPORT_STYLE
    return answer_with("report", {"html": body.rpartition("</body>")[0]})


async def open_artifact(readers: Readers, name: str) -> Response:
    """Return a stored file as a download, checked against its hash; never shown in the browser."""
    answer = await readers.run(lambda: _read_artifact(readers, name))
    if answer.status != OK:
        return Response(answer.body, answer.status, media_type="application/json")
    headers = {
        "content-disposition": f'attachment; filename="{name[:16]}.bin"',
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(answer.body, media_type="application/octet-stream", headers=headers)


def _read_artifact(readers: Readers, name: str) -> HttpAnswer:
    if not _SHA256.match(name):
        return answer_error("artifact.show", answers.nothing_here())
    with tempfile.TemporaryDirectory(prefix="moot-serve-") as folder:
        file = Path(folder, "artifact")
        try:
            show_artifact(readers.open_session(), name, file=file)
        except MootError as error:
            return answer_error("artifact.show", error)
        return HttpAnswer(OK, file.read_bytes(), "")


HALF: Final = "x-moot-half"
MOST_BODY: Final = 64 * 1024
PAGES: Final = frozenset({"/", "/enter"})
ICON: Final = "/favicon.ico"
ENTER: Final = "/api/v1/enter"
EVENTS: Final = "/api/v1/events"
DRAWN: Final = "/api/v1/report/"
_JSON: Final = "application/json"
# Opened with a ticket, in a new tab.
OPENED: Final = {"/report/": open_report, "/artifact/": open_artifact}


class PageServer:
    """One running server. `cookie_name` differs by port: cookies ignore ports."""

    def __init__(
        self,
        readers: Readers,
        checks: RecordChecks,
        listeners: Listeners,
        access: Access,
        *,
        cookie_name: str,
        secure: bool = False,
        rulings: PreparedRulings | None = None,
        on_bug: Callable[[Exception], None] = lambda _error: None,
    ) -> None:
        self._readers = readers
        self._checks = checks
        self._listeners = listeners
        self._access = access
        self._cookie_name = cookie_name
        self._secure = secure
        self._rulings = rulings
        self._on_bug = on_bug
        self._files = read_static_files()
        self._gets: dict[str, Callable[[], HttpAnswer]] = {
            "/api/v1/verify": lambda: answer_with("verify", checks.last),
            "/api/v1/words": lambda: answer_with("words", self._ruling_state()),
            "/api/v1/openapi.json": lambda: answer_with("openapi", describe_api()),
        }
        self._posts: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "/api/v1/leave": self._leave,
            "/api/v1/tickets": self._make_ticket,
            "/api/v1/verify": self._start_check,
            "/api/v1/words": self._take_ruling,
        }

    @property
    def own_addresses(self) -> tuple[frozenset[str], frozenset[str]]:
        """Addresses that are not routes of operations: for GET, and for POST."""
        files = (f"/static/{name}" for name in self._files)
        opened = (*(f"{start}x" for start in OPENED), f"{DRAWN}x")
        return (
            frozenset((*PAGES, ICON, EVENTS, *files, *opened, *self._gets)),
            frozenset((ENTER, *self._posts)),
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        except MootError as error:
            response = _to_response(answer_error("", error))
        except Exception as error:  # noqa: BLE001 - the outermost function
            self._on_bug(error)
            response = _to_response(answer_error("", answers.bug(error)))
        await response(scope, receive, send)

    async def _run_lifespan(self, receive: Receive, send: Send) -> None:
        """Watch for changes from the start of the server to its end."""
        await receive()
        watching = asyncio.create_task(Watcher(self._readers, self._listeners).watch())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        await self._checks.close()
        self._readers.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, request: Request) -> Response:
        path = raw_path(request)
        if request.method == "POST":
            return await self._answer_post(request, path)
        if path in PAGES:
            return self._file(request, PAGE)
        if path.startswith("/static/") or path == ICON:
            return self._file(request, path.removeprefix("/static/"))
        if path == EVENTS:
            return self._listen(request)
        for start, open_it in OPENED.items():
            if path.startswith(start):
                self._require_ticket(request, path)
                return await open_it(self._readers, path.removeprefix(start))
        self._require_both_halves(request)
        return await self._answer_get(request, path)

    async def _answer_get(self, request: Request, path: str) -> Response:
        own = self._gets.get(path)
        if own is not None:
            return _to_response(own(), request)
        if path.startswith(DRAWN) and "/" not in path.removeprefix(DRAWN):
            drawn = await draw_report(self._readers, path.removeprefix(DRAWN))
            return _to_response(drawn, request)
        found = find_route(path)
        if found is None:
            raise answers.nothing_here()
        route, inside = found
        query = dict(request.query_params)
        if len(query) != len(request.query_params.multi_items()):
            raise Malformed("a name occurs twice in the query", code="bad_query")
        arguments = read_arguments(route, inside, query)
        address = f"{path}?{request.url.query}"
        return _to_response(await self._readers.read(route.operation, arguments, address), request)

    async def _answer_post(self, request: Request, path: str) -> Response:
        if path == ENTER:
            return await self._enter(request)
        post = self._posts.get(path)
        if post is None:
            raise answers.nothing_here()
        self._require_both_halves(request)
        return await post(request)

    async def _enter(self, request: Request) -> Response:
        token = _text_field(await _read_json(request), "token")
        visit = self._access.enter(token)
        if visit is None:
            raise answers.not_let_in()
        response = _to_response(answer_with("enter", {"half": visit.half}))
        response.set_cookie(
            self._cookie_name,
            visit.cookie,
            max_age=COOKIE_SECONDS,
            httponly=True,
            samesite="strict",
            secure=self._secure,
            path="/",
        )
        return response

    async def _leave(self, request: Request) -> Response:
        self._access.leave(self._cookie(request))
        response = _to_response(answer_with("leave", {"left": True}))
        response.delete_cookie(self._cookie_name, path="/", httponly=True, samesite="strict")
        return response

    async def _make_ticket(self, request: Request) -> Response:
        target = _text_field(await _read_json(request), "target")
        if target != EVENTS and not target.startswith(tuple(OPENED)):
            raise Malformed("this address needs no ticket", code="bad_ticket", hint=f"use {EVENTS}")
        ticket = self._access.make_ticket(self._cookie(request), target)
        return _to_response(answer_with("tickets", {"ticket": ticket}))

    async def _start_check(self, _request: Request) -> Response:
        self._checks.start()
        self._listeners.tell(("verify",))
        return _to_response(answer_with("verify", self._checks.last))

    async def _take_ruling(self, request: Request) -> Response:
        if self._rulings is None:
            raise answers.decide_is_off()
        state = await self._rulings.take(await _read_json(request))
        return _to_response(answer_with("words", state))

    def _ruling_state(self) -> Any:
        return {"offered": False} if self._rulings is None else self._rulings.state

    def _listen(self, request: Request) -> Response:
        self._require_ticket(request, EVENTS)
        if self._listeners.is_full():
            response = _to_response(answer_error("events", answers.too_many_listen()))
            response.headers["retry-after"] = "10"
            return response
        frames = self._listeners.frames(request.headers.get("last-event-id", "")[:64])
        return StreamingResponse(frames, media_type="text/event-stream")

    def _file(self, request: Request, name: str) -> Response:
        file = self._files.get("icon.svg" if name == ICON else name)
        if file is None:
            raise answers.nothing_here()
        headers = {"etag": file.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(file.compressed, media_type=file.content_type, headers=headers)
        return Response(file.body, media_type=file.content_type, headers=headers)

    def _cookie(self, request: Request) -> str:
        return request.cookies.get(self._cookie_name, "")

    def _require_both_halves(self, request: Request) -> None:
        if not self._access.may_look(self._cookie(request), request.headers.get(HALF, "")):
            raise answers.not_let_in()

    def _require_ticket(self, request: Request, target: str) -> None:
        ticket = request.query_params.get("ticket", "")
        if not self._access.take_ticket(ticket, self._cookie(request), target):
            raise answers.not_let_in()


def raw_path(request: Request) -> str:
    """Return the path as it was sent, before anything is decoded."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return raw.partition(b"?")[0].decode("latin-1")


async def _read_json(request: Request) -> dict[str, Any]:
    """Read the body as a JSON object of limited size.

    The content type must be JSON: a form on another page cannot send that without a preflight.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != _JSON:
        raise answers.not_json("the body must be application/json")
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BODY:
            raise answers.body_too_large(MOST_BODY)
    try:
        return msgspec.json.decode(body or b"{}", type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise answers.not_json("the body is not a JSON object") from None


def _text_field(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise Malformed(f"{name} must be a short text", code="bad_body")
    return value


def _to_response(answer: HttpAnswer, request: Request | None = None) -> Response:
    """Make the response; 304 without a body if the client has the same answer."""
    headers = {"etag": answer.etag}
    known = "" if request is None else request.headers.get("if-none-match", "")
    if answer.status == OK and known == answer.etag:
        return Response(status_code=304, headers=headers)
    return Response(answer.body, answer.status, headers, _JSON)
