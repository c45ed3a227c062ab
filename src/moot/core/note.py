"""The checkpoint as a C2SP signed note: text a person can read and any tool can check.

docs/format.md section 5.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from typing import Final

import msgspec

from moot.core.ed25519 import SIGNATURE_BYTES
from moot.core.errors import Malformed
from moot.core.sha256 import sha256
from moot.core.signing import Signer, verify_raw

_NUMBER: Final = r"(0|[1-9][0-9]{0,15})"
_TEXT: Final = re.compile(
    rf"(?P<origin>[!-~]+)\n(?P<size>{_NUMBER})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{_NUMBER}) (?P<events>{_NUMBER}) (?P<at>[0-9TZ:.-]{{24}})\n\Z"
)


class Checkpoint(msgspec.Struct, frozen=True):
    """What a note says: number `number`, over `streams` streams holding `events` events."""

    origin: str
    streams: int
    root: bytes
    number: int
    events: int
    at: str

    def text(self) -> str:
        root = _text(self.root)
        tail = f"moot {self.number} {self.events} {self.at}"
        return f"{self.origin}\n{self.streams}\n{root}\n{tail}\n"


def sign_note(checkpoint: Checkpoint, signer: Signer) -> str:
    # LDG-032
    text = checkpoint.text()
    signature = signer.sign_raw(text.encode())
    stamp = _text(_key_hash(checkpoint.origin, signer.public) + signature)
    return f"{text}\n— {checkpoint.origin} {stamp}\n"


def read_note(note: str, public: bytes) -> Checkpoint:
    """The checkpoint of a note that holds under `public`; Malformed otherwise (LDG-033)."""
    text, _, tail = note.partition("\n\n")
    text += "\n"
    match = _TEXT.match(text)
    if not match or _text(_b64(match["root"])) != match["root"]:
        raise Malformed("this is not a checkpoint note", code="bad_note")
    prefix = f"— {match['origin']} "
    stamp = _b64(tail[len(prefix) : -1]) if tail.startswith(prefix) else b""
    if len(stamp) != 4 + SIGNATURE_BYTES or note != f"{text}\n{prefix}{_text(stamp)}\n":
        raise Malformed("the note's signature line is damaged", code="bad_note")
    if stamp[:4] != _key_hash(match["origin"], public):
        raise Malformed("the note is signed by another key", code="bad_note")
    if not verify_raw(public, text.encode(), stamp[4:]):
        raise Malformed("the note's signature does not hold", code="bad_note")
    return Checkpoint(
        origin=match["origin"],
        streams=int(match["size"]),
        root=_b64(match["root"]),
        number=int(match["number"]),
        events=int(match["events"]),
        at=match["at"],
    )


def _key_hash(name: str, public: bytes) -> bytes:
    return sha256(name.encode() + b"\n\x01" + public).digest()[:4]


def _b64(text: str) -> bytes:
    try:
        return a2b_base64(text, strict_mode=True)
    except ValueError:
        return b""


def _text(raw: bytes) -> str:
    return b2a_base64(raw, newline=False).decode()
