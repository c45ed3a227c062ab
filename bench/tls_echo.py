"""A bare round trip over TLS on loopback: a process that sends back each byte, and one that waits.

python -m bench.tls_echo FOLDER_OF_CERTIFICATE
"""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.hosts.keeper import ensure_certificate


@contextmanager
def tls_round_trips(folder: Path) -> Iterator[Callable[[], None]]:
    """Yields what sends one byte and waits until it is back."""
    echo = subprocess.Popen(
        [sys.executable, "-m", "bench.tls_echo", str(folder)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert echo.stdout is not None
        address = ("127.0.0.1", int(echo.stdout.readline()))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with (
            socket.create_connection(address, timeout=60) as line,
            context.wrap_socket(line) as safe,
        ):
            safe.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def one() -> None:
                safe.sendall(b"x")
                assert safe.recv(1) == b"x"

            yield one
    finally:
        echo.kill()
        echo.communicate(timeout=60)


def main(folder: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ensure_certificate(Path(folder)))
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        line, _ = server.accept()
        with context.wrap_socket(line, server_side=True) as safe:
            safe.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while said := safe.recv(1):
                safe.sendall(said)


if __name__ == "__main__":
    main(*sys.argv[1:])
