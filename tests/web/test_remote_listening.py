"""Beyond this machine: only over TLS, only under the names of the certificate, never deciding."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.project import MOOT, Project
from tests.web.server import SECONDS, HttpReply

NAME = "moot.example"


class Certificate(NamedTuple):
    certificate: Path
    key: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    files = Certificate(folder / "certificate.pem", folder / "key.pem")
    words = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    subprocess.run(
        ["openssl", "req", *words, "-days", "2", "-subj", f"/CN={NAME}", "-addext",
         f"subjectAltName=DNS:{NAME}", "-out", str(files.certificate), "-keyout", str(files.key)],
        check=True, capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    return files


@contextmanager
def listening(project: Project, made: Certificate) -> Iterator[str]:
    """The address that is printed by a server that listens under the certificate's name."""
    files = ("--certificate", str(made.certificate), "--key", str(made.key))
    server = subprocess.Popen(
        [*MOOT, "serve", "--listen", "127.0.0.1", "--name", NAME, *files],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.communicate(timeout=SECONDS)


class TlsVisitor:
    """Somebody who believes exactly this certificate."""

    def __init__(self, port: int, made: Certificate) -> None:
        self.port = port
        self._context = ssl.create_default_context(cafile=str(made.certificate))

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: str | None = None
    ) -> HttpReply:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=SECONDS, context=self._context
        )
        connection._create_connection = _named  # type: ignore[attr-defined]
        connection.host = NAME  # what the certificate is compared with
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return HttpReply(reply.status, dict(reply.getheaders()), reply.read())
        finally:
            connection.close()


def _named(address: tuple[str, int], *more: Any) -> Any:
    return socket.create_connection(("127.0.0.1", address[1]), *more)


def test_it_is_served_over_tls_under_the_names_of_the_certificate(
    project: Project, made: Certificate
) -> None:
    with listening(project, made) as address:
        where, _, token = address.partition("/enter#")
        port = int(where.rpartition(":")[2])
        assert where == f"https://{NAME}:{port}"
        visitor = TlsVisitor(port, made)
        host, sent = f"{NAME}:{port}", {"Content-Type": "application/json"}
        entered = visitor.ask(
            *("POST", "/api/v1/enter", {**sent, "Host": host, "Origin": where}),
            body=f'{{"token": "{token}"}}',
        )
        cookie = entered.headers["set-cookie"]
        assert "Secure" in cookie
        secret = {"Cookie": cookie.partition(";")[0], "X-Moot-Half": entered.data["half"]}
        assert visitor.ask("GET", "/api/v1/status", {"Host": host, **secret}).status == 200
        words = visitor.ask("GET", "/api/v1/words", {"Host": host, **secret}).data
        assert words == {"offered": False}, "a person's word is given at this machine alone"
        for wrong in (f"127.0.0.1:{port}", f"localhost:{port}", NAME):
            refused = visitor.ask("GET", "/api/v1/status", {"Host": wrong, **secret})
            assert (refused.status, refused.code) == (421, "wrong_host")
        plain = {**sent, "Host": host, "Origin": f"http://{host}"}
        assert visitor.ask("POST", "/api/v1/enter", plain, body="{}").code == "wrong_origin"


def test_nothing_is_said_without_tls(project: Project, made: Certificate) -> None:
    with listening(project, made) as address:
        port = int(address.partition("/enter#")[0].rpartition(":")[2])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        try:
            connection.request("GET", "/", headers={"Host": f"{NAME}:{port}"})
            with pytest.raises((http.client.HTTPException, OSError)):
                connection.getresponse()
        finally:
            connection.close()


@pytest.mark.requirement("PAG-011")
def test_with_listen_no_word_is_ever_taken(project: Project, made: Certificate) -> None:
    files = ("--certificate", str(made.certificate), "--key", str(made.key))
    words = ("serve", "--listen", "127.0.0.1", *files, "--decide")
    assert project.refused(*words) == ("decide_is_local", 1)


def test_files_that_are_no_certificate_are_said_to_be_none(
    project: Project, made: Certificate
) -> None:
    files = ("--certificate", str(made.key), "--key", str(made.certificate))
    code, status = project.refused("serve", "--listen", "127.0.0.1", *files)
    assert (code, status) == ("bad_certificate", 1)
