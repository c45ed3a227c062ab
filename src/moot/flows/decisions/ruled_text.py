"""What a person is asked to rule on: in which record, and the exact text that would stand.

A question and the parliament that argues it ask for one word, not two: the question's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from moot.core.errors import Conflict
from moot.engine.engine import Engine
from moot.flows.parliament.bills import write_bill
from moot.flows.parliament.ruling import decisions_argued_in, everyone_has_decided
from moot.protocols.decision import stream_of
from moot.protocols.decision.machine import MACHINE as DECISION
from moot.protocols.decision.model import ChamberKind, Stage
from moot.protocols.parliament.machine import MACHINE as PARLIAMENT
from moot.protocols.parliament.messages.words import SessionStatus


def find_asking_stream(engine: Engine, stream: str) -> str | None:
    """The record in which a person's word on this one is awaited; None if none is."""
    if find_ruled_text(engine, stream) is None:
        return None
    if not stream.startswith(f"{PARLIAMENT.name}/"):
        return stream
    questions = map(stream_of, decisions_argued_in(engine, stream))
    asking = (each for each in questions if find_ruled_text(engine, each) is not None)
    return next(asking, None if everyone_has_decided(engine, stream) else stream)


def find_ruled_text(engine: Engine, stream: str) -> str | None:
    """The text that an approval would let stand; None if no person's word is awaited there."""
    find = _FIND.get(stream.partition("/")[0])
    return None if find is None else find(engine, stream)


def _text_of_question(engine: Engine, stream: str) -> str | None:
    state = engine.state(DECISION, stream)
    if state.stage is not Stage.WAITING:
        return None
    if state.chamber is ChamberKind.PARLIAMENT and state.session is not None:
        bill = engine.state(PARLIAMENT, state.session.id).bill
        if bill is not None:
            return write_bill(bill)
    return state.question if state.motion is None else state.motion.text


def _text_of_bill(engine: Engine, stream: str) -> str | None:
    state = engine.state(PARLIAMENT, stream)
    return write_bill(state.bill) if state.status is SessionStatus.PM_REVIEW else None


_FIND: Final[dict[str, Callable[[Engine, str], str | None]]] = {
    DECISION.name: _text_of_question,
    PARLIAMENT.name: _text_of_bill,
}


def hash_text(text: str) -> str:
    """The SHA-256 by which a person recognizes the text."""
    return hashlib.sha256(text.encode()).hexdigest()


def require_text_shown(engine: Engine, stream: str, sha256: str | None) -> None:
    """Conflict if a person was shown another text than the one that waits; None: nothing said."""
    if sha256 is None:
        return
    text = find_ruled_text(engine, stream)
    if text is None or hash_text(text) != sha256:
        raise Conflict("busy", "this is not what you were shown", hint="look at it again")
