"""The keeper's own TLS certificate: made once, signed by itself, known by its fingerprint.

The smallest X.509 certificate that TLS accepts (RFC 5280 and 8410), written out in DER: an Ed25519
key, one name, twenty years. Nobody checks the name or the dates; machines compare the fingerprint.
"""

from __future__ import annotations

import base64
import os
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Final

from moot.core.signing import Signer
from moot.keeper.line import fingerprint_of
from moot.store.files import write_new_file

FILE: Final = "keeper.pem"
_ED25519: Final = bytes.fromhex("06032b6570")  # the object id 1.3.101.112
_COMMON_NAME: Final = bytes.fromhex("0603550403")  # 2.5.4.3
_VALID: Final = (b"200101000000Z", b"491231235959Z")


def _der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    length = len(content)
    if length < 0x80:
        return bytes((tag, length)) + content
    size = (length.bit_length() + 7) // 8
    return bytes((tag, 0x80 | size)) + length.to_bytes(size, "big") + content


def _sequence(*parts: bytes) -> bytes:
    return _der(0x30, *parts)


def _bits(content: bytes) -> bytes:
    return _der(0x03, b"\0", content)


def make_certificate(signer: Signer) -> bytes:
    """A certificate of the signer's key, signed by itself, in DER."""
    algorithm = _sequence(_ED25519)
    name = _sequence(_der(0x31, _sequence(_COMMON_NAME, _der(0x0C, b"moot keeper"))))
    serial = _der(0x02, b"\x01" + os.urandom(15))
    statement = _sequence(
        _der(0xA0, _der(0x02, b"\x02")),  # version 3
        serial,
        algorithm,
        name,
        _sequence(*(_der(0x17, moment) for moment in _VALID)),
        name,
        _sequence(algorithm, _bits(signer.public)),
    )
    return _sequence(statement, algorithm, _bits(signer.sign_raw(statement)))


def _pem(kind: str, content: bytes) -> str:
    text = base64.b64encode(content).decode()
    lines = "\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def ensure_certificate(folder: Path) -> Path:
    """The keeper's key and certificate in `folder`, made on first use; only its user may read."""
    place = folder / FILE
    if not place.exists():
        seed = Signer.new_seed()
        key = _sequence(_der(0x02, b"\0"), _sequence(_ED25519), _der(0x04, _der(0x04, seed)))
        certificate = make_certificate(Signer(seed))
        text = _pem("PRIVATE KEY", key) + _pem("CERTIFICATE", certificate)
        with suppress(FileExistsError):  # another process was first
            write_new_file(place, text.encode(), 0o600)
    return place


def read_fingerprint(place: Path) -> str:
    """What the certificate in the file is known by."""
    text = place.read_text("ascii")
    begin = text.index("-----BEGIN CERTIFICATE-----")
    return fingerprint_of(ssl.PEM_cert_to_DER_cert(text[begin:]))


def server_context(place: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0  # nobody comes back to a session: it would save no round trip
    context.load_cert_chain(place)
    return context
