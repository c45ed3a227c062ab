"""The checkpoint as a C2SP signed note: text that people can read and any tool can verify.

docs/format.md section 5.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from moot.core.ed25519 import SIGNATURE_BYTES
from moot.core.errors import Malformed
from moot.core.record import frame
from moot.core.sha256 import sha256
from moot.core.signing import Signer, verify_raw

_NUMBER: Final = r"(0|[1-9][0-9]{0,15})"
_TEXT: Final = re.compile(
    rf"(?P<origin>[!-~]+)\n(?P<size>{_NUMBER})\n(?P<root>[A-Za-z0-9+/]{{43}}=)\n"
    rf"moot (?P<number>{_NUMBER}) (?P<events>{_NUMBER}) (?P<at>[0-9TZ:.-]{{24}})\n\Z"
)


class Checkpoint(msgspec.Struct, frozen=True):
    """The content of a note: checkpoint `number` of a ledger with `streams` and `events`.

    `root` is the root hash of the tree of all heads.
    """

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
    """Verify a note with the key `public` and return its checkpoint; Malformed if it is invalid
    (LDG-033)."""
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
        raise Malformed("the note's signature is not valid", code="bad_note")
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


# The Merkle tree of all heads (as in RFC 6962): its signed root covers every stream, and a short
# path of hashes proves one stream without showing the others. Leaf i is the newest event of the
# i-th stream. Only complete subtrees are stored, as nodes at `(level, index)`; leaves have level 0.
# An update costs O(changed * log streams), a proof O(log streams). docs/format.md section
# 5.

Position = tuple[int, int]
Nodes = Mapping[Position, bytes]


def leaf_hash(stream: str, seq: int, head: bytes) -> bytes:
    return sha256(b"\x00" + frame(stream.encode(), b"%d" % seq, head)).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def changed_nodes(
    nodes: Nodes, size: int, leaves: Iterable[tuple[int, bytes]]
) -> dict[Position, bytes]:
    """Return the nodes that change when `leaves` are set in a tree of `size` leaves.

    That is at most one node on each level for each leaf, the leaf included (LDG-031).
    """
    changed: dict[Position, bytes] = {(0, index): leaf for index, leaf in leaves}
    touched = {index for _, index in changed}
    level = 0
    while touched:
        level += 1
        # Only full subtrees are stored; `root_hash` computes the others each time.
        touched = {index // 2 for index in touched if (index // 2 + 1) << level <= size}
        for index in touched:
            left, right = (level - 1, 2 * index), (level - 1, 2 * index + 1)
            changed[level, index] = node_hash(
                changed.get(left) or nodes[left], changed.get(right) or nodes[right]
            )
    return changed


def root_hash(nodes: Nodes, size: int) -> bytes:
    # LDG-030
    return _subtree(nodes, 0, size) if size else sha256(b"").digest()


def inclusion_path(nodes: Nodes, index: int, size: int) -> tuple[bytes, ...]:
    """Return the sibling hashes from leaf `index` up to the root of `size` leaves."""
    path: list[bytes] = []
    start, width = 0, size
    while width > 1:
        half = _largest_power_below(width)
        if index - start < half:
            path.append(_subtree(nodes, start + half, width - half))
            width = half
        else:
            path.append(_subtree(nodes, start, half))
            start, width = start + half, width - half
    return tuple(reversed(path))


def _subtree(nodes: Nodes, start: int, width: int) -> bytes:
    """Return the hash over `width` leaves from `start`, a multiple of the next power of two."""
    if width & (width - 1) == 0:
        level = width.bit_length() - 1
        return nodes[level, start >> level]
    half = _largest_power_below(width)
    return node_hash(_subtree(nodes, start, half), _subtree(nodes, start + half, width - half))


def _largest_power_below(width: int) -> int:
    return 1 << ((width - 1).bit_length() - 1)
