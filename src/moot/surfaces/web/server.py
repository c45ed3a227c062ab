"""Starting the server: where it listens, under which names, and what is printed."""

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
    """A server that is bound and not started yet; `address` lets in whoever opens it.

    `names` are those under which it may be asked for, the printed one first.
    """

    address: str
    names: tuple[str, ...]
    page: PageServer
    token: str
    server: StoppableServer
    listening_socket: socket.socket

    def run(self) -> None:
        """Serve until a signal ends it; Ctrl-C is how a person does that."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.listening_socket])


class StoppableServer(uvicorn.Server):
    """Lets everybody go who listens before it waits for open connections."""

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
    """Bind, and put everything together. `env` is what programs find that the server starts."""
    _require_certificate(listening)
    bound = _bind(listening)
    port = bound.getsockname()[1]
    is_local = listening.certificate is None
    names = _names(listening, port)
    access, listeners, readers = Access(), Listeners(), Readers(session)
    folder = session.folder
    checks = RecordChecks(folder, env, lambda: listeners.tell(("verify", "status")))
    words = None
    if decide:
        from moot.surfaces.web.human_rulings import PersonsWords

        words = PersonsWords(readers, folder, env, say, lambda: listeners.tell(("decisions",)))
    page = PageServer(
        readers,
        checks,
        listeners,
        access,
        cookie_name=f"moot_{port}",
        secure=not is_local,
        words=words,
        on_bug=print_exception if env.get("MOOT_DEBUG") else _say_nothing,
    )
    scheme = "http" if is_local else "https"
    app = Gate(page, frozenset(names), scheme)
    server = StoppableServer(_configure(app, listening), listeners)
    address = f"{scheme}://{names[0]}/enter#{access.token}"
    return RunningServer(address, tuple(names), page, access.token, server, bound)


def _require_certificate(listening: Listening) -> None:
    """Refuse files that are no certificate and its key, before anything is printed."""
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
            hint="both are PEM files, and the key belongs to the certificate",
        ) from None


def _say_nothing(_error: Exception) -> None:
    """The answer names the bug; where it is, is told to whoever asked for debug lines."""


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
        hint = "name another --port, or none at all"
        raise MootError("cannot_listen", f"{where}: {error.strerror}", hint=hint) from None
    bound.setblocking(False)
    return bound


def _names(listening: Listening, port: int) -> list[str]:
    """The names under which it may be asked for, the one to print first.

    On loopback a name of its own keeps its cookie from every other server of this machine; it is
    printed where this machine resolves it, and taken in any case.
    """
    if listening.certificate is not None:
        own = listening.names or (listening.address,)
        return [f"{name}:{port}" for name in own]
    alias = f"moot-{secrets.token_hex(4)}.localhost"
    order = (alias, LOOPBACK) if resolves_to_loopback(alias) else (LOOPBACK, alias)
    return [f"{name}:{port}" for name in (*order, "localhost")]


def resolves_to_loopback(name: str) -> bool:
    """Whether programs on this machine find this machine under the name."""
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET)
    except OSError:
        return False
    return {str(entry[4][0]) for entry in found} == {LOOPBACK}
