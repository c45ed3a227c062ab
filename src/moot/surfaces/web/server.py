"""Start the server: where it listens, under which names."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from traceback import print_exception
from typing import TYPE_CHECKING, Final, NamedTuple

import uvicorn

from moot.core.errors import MootError
from moot.surfaces.web.access import Access, Gate
from moot.surfaces.web.app import PageServer
from moot.surfaces.web.live import Listeners
from moot.surfaces.web.readers import Readers, RecordChecks

if TYPE_CHECKING:
    from moot.api.session import Session

LOOPBACK: Final = "127.0.0.1"


class Listening(NamedTuple):
    """Where to listen. Beyond loopback only with a certificate and its key."""

    address: str = LOOPBACK
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()


class RunningServer(NamedTuple):
    """A server that is bound and not started yet; `address` contains the secret.

    `names` are the allowed values of the Host header, the printed one first.
    """

    address: str
    names: tuple[str, ...]
    page: PageServer
    token: str
    server: StoppableServer
    listening_socket: socket.socket

    def run(self) -> None:
        """Serve until a signal, such as Ctrl-C, ends it."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.listening_socket])


class StoppableServer(uvicorn.Server):
    """Ends live events before it waits for open connections."""

    def __init__(self, config: uvicorn.Config, listeners: Listeners) -> None:
        super().__init__(config)
        self.listeners = listeners

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.listeners.end()
        await super().shutdown(sockets)


def make_server(
    session: Session,
    listening: Listening,
    *,
    env: Mapping[str, str],
    decide: bool = False,
    say: Callable[[str], None] = lambda _line: None,
) -> RunningServer:
    """Bind the socket and build the server. `env` is for the programs that the server starts."""
    _require_certificate(listening)
    bound = _bind(listening)
    port = bound.getsockname()[1]
    is_local = listening.certificate is None
    names = _names(listening, port)
    access, listeners, readers = Access(), Listeners(), Readers(session)
    folder = session.folder
    checks = RecordChecks(folder, env, lambda: listeners.tell(("verify", "status")))
    rulings = None
    if decide:
        from moot.surfaces.web.human_rulings import PreparedRulings

        rulings = PreparedRulings(readers, folder, env, say, lambda: listeners.tell(("decisions",)))
    page = PageServer(
        readers,
        checks,
        listeners,
        access,
        cookie_name=f"moot_{port}",
        secure=not is_local,
        rulings=rulings,
        on_bug=print_exception if env.get("MOOT_DEBUG") else _say_nothing,
    )
    scheme = "http" if is_local else "https"
    app = Gate(page, frozenset(names), scheme)
    server = StoppableServer(_configure(app, listening), listeners)
    address = f"{scheme}://{names[0]}/enter#{access.token}"
    return RunningServer(address, tuple(names), page, access.token, server, bound)


def _require_certificate(listening: Listening) -> None:
    """Refuse files that are not a certificate and its key, before anything is printed."""
    if listening.certificate is None:
        return
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            listening.certificate, listening.key
        )
    except (OSError, ssl.SSLError) as error:
        raise MootError(
            "bad_certificate",
            f"{listening.certificate} and {listening.key}: {error.strerror or error}",
            hint="give a PEM certificate and its own key, also in PEM",
        ) from None


def _say_nothing(_error: Exception) -> None:
    """Print nothing: the answer names the bug, and only MOOT_DEBUG shows where it is."""


def _configure(app: Gate, listening: Listening) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        http="h11",
        loop="asyncio",
        lifespan="on",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        limit_concurrency=1000,
        ssl_certfile=None if listening.certificate is None else str(listening.certificate),
        ssl_keyfile=None if listening.key is None else str(listening.key),
    )


def _bind(listening: Listening) -> socket.socket:
    family = socket.AF_INET6 if ":" in listening.address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listening.address, listening.port))
        bound.listen(512)
    except OSError as error:
        bound.close()
        where = f"{listening.address}:{listening.port}"
        hint = "choose another --port, or omit it"
        raise MootError("cannot_listen", f"{where}: {error.strerror}", hint=hint) from None
    bound.setblocking(False)
    return bound


def _names(listening: Listening, port: int) -> list[str]:
    """Return the allowed values of the Host header, the one to print first.

    On loopback a random name keeps the cookie from every other server on this machine. It is
    printed if this machine resolves it, and allowed in any case.
    """
    if listening.certificate is not None:
        own = listening.names or (listening.address,)
        return [f"{name}:{port}" for name in own]
    alias = f"moot-{secrets.token_hex(4)}.localhost"
    order = (alias, LOOPBACK) if resolves_to_loopback(alias) else (LOOPBACK, alias)
    return [f"{name}:{port}" for name in (*order, "localhost")]


def resolves_to_loopback(name: str) -> bool:
    """Return whether the name resolves to loopback on this machine."""
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET)
    except OSError:
        return False
    return {str(entry[4][0]) for entry in found} == {LOOPBACK}
