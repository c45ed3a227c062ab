"""The checkpoint of section 5: a C2SP signed note with one signature, by the checkpoint key."""

from __future__ import annotations

import hashlib
import re
from typing import Final, NamedTuple

from moot.verify import field_rules
from moot.verify.crypto import decode_base64, signature_holds
from moot.verify.step_failure import StepFailure

MAX_NOTE: Final = 1024
_COUNT = "(0|[1-9][0-9]{0,15})"
_NOTE = re.compile(
    rf"(?P<signed>(moot[.]ledger/[0-9a-f]{{32}})\n{_COUNT}\n([^\n]{{44}})\n"
    rf"moot {_COUNT} {_COUNT} ({field_rules.MOMENT_EXPRESSION})\n)\n"
    r"— (moot[.]ledger/[0-9a-f]{32}) ([^\n]{92})\n"
).fullmatch


class CheckpointNote(NamedTuple):
    """What the checkpoint key signed: so many streams and events, under this root."""

    streams: int
    root: bytes
    number: int
    events: int
    at: str

    def may_follow(self, kept: CheckpointNote) -> bool:
        """Section 7: as far as two notes tell, what the kept one pinned is under this one too."""
        more = self.number > kept.number and self.events > kept.events
        return self.root == kept.root or (more and self.streams >= kept.streams)


def read_note(text: str, origin: str, public: bytes) -> CheckpointNote:
    """Step 7: the note's form, its origin line, and its signature under the checkpoint key."""
    match = _NOTE(text) if len(text) <= MAX_NOTE else None
    if match is None:
        raise _bad("note_malformed", "the checkpoint is not a signed note of section 5")
    signed, named, streams, root_text, number, events, at, signer, signature_text = match.groups()
    root, signature = _unbase64(root_text, 32), _unbase64(signature_text, 68)
    counts = [int(text) for text in (streams, number, events)]
    if root is None or signature is None:
        raise _bad("note_malformed", "a value in the checkpoint is malformed")
    if named != origin or signer != origin:
        raise _bad("note_foreign", "the checkpoint is of another ledger")
    hint = hashlib.sha256(origin.encode() + b"\n\x01" + public).digest()[:4]
    if signature[:4] != hint or not signature_holds(public, signature[4:], signed.encode()):
        raise _bad("note_signature", "the checkpoint does not hold under the checkpoint key")
    return CheckpointNote(counts[0], root, counts[1], counts[2], at)


def _unbase64(text: str, length: int) -> bytes | None:
    data = decode_base64(text.encode())
    return data if data is not None and len(data) == length else None


def _bad(code: str, message: str) -> StepFailure:
    return StepFailure(7, code, message)
