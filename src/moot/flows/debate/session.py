"""A debate on disk: open it, see it as a speaker does, add to it, and record all of it.

Each function takes a workspace or None. Without one the file is all there is. With one, whatever
is written to a session that is recorded, or by an agent who is registered, is written in one
step: under the file's lock and in one open transaction the event is inserted, the file appended
to and made durable, and only then the event committed. A process that dies between leaves the
file ahead; whoever comes next observes what stands there, and its author, who tries again, signs
it (the same entry, the same id).
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from moot.core.clock import Clock
from moot.core.errors import Refused
from moot.core.findings import Finding
from moot.core.machine import Due
from moot.engine.job import ALONE, Link
from moot.flows.debate.file import create, named, read_file, rewrite
from moot.flows.debate.place import Desk, desk
from moot.flows.debate.reading import Held
from moot.flows.debate.record import Record, find
from moot.protocols.debate import commands as ask
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.context_addition import add_context_section
from moot.protocols.debate.drafts import EntryDraft, tidy_draft
from moot.protocols.debate.escalation import draft_skipped_turn, make_resumption_mark
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.views import SpeakerView, view_for_speaker
from moot.protocols.debate.writer import (
    is_exactly,
    prepare_closing,
    prepare_entry,
    prepare_own_entry,
)
from moot.workspace.workspace import Workspace

SIGNED: Final = "signed"
OBSERVED: Final = "observed"
# Which person acts, asked only where the act is recorded; None: nobody, it is only observed.
Operator = Callable[[], str | None]


def nobody() -> None:
    return None


class Written(msgspec.Struct, frozen=True):
    """What was done: the entries written, the file as it is now, and how it was recorded.

    `recorded` is `signed` (by the author's or a person's own key), `observed` (by the machine) or
    None (the file is not recorded). `again`: the entry had stood there before and was only signed.
    """

    entries: tuple[str, ...]
    checked: CheckedSession
    recorded: str | None
    again: bool = False
    findings: tuple[Finding, ...] = ()


# Reading -----------------------------------------------------------------------------------------


def read(file: Path) -> CheckedSession:
    """The session in this file, checked."""
    return check_session(read_file(file), file_name=file.name)


def view(file: Path, speaker: str, clock: Clock) -> SpeakerView:
    """The session as one participant sees it, with everything that was said."""
    return view_for_speaker(read(file), speaker, clock())


def agenda(space: Workspace, file: Path) -> tuple[Due, ...]:
    """Whose turn it is by the record, and until when; nothing if the file is not recorded."""
    record = find(space, file, read(file))
    if record is None or not record.known:
        return ()
    return tuple(due for _, due in record.engine.agenda([record.stream]))


# Writing -----------------------------------------------------------------------------------------


def new(
    file: Path,
    text: str,
    space: Workspace | None = None,
    by: str | None = None,
    link: Link = ALONE,
) -> Path:
    """A new file with this text; in a workspace the session is recorded in the same step."""
    file = named(file)
    checked = check_session(text)
    record = Record(space, file, checked.document.session_id) if space is not None else None
    actor = by if record and by and by in record.engine.registry().agents else None
    actor = actor or (record.witness(None) if record else None)
    if record is None or actor is None:
        create(file, text)
        return file
    record.begin(checked, actor, partial(create, file, text), link)
    return file


def add(
    file: Path,
    draft: EntryDraft,
    clock: Clock,
    space: Workspace | None = None,
    *,
    entry_id: str | None = None,
    escape: bool = False,
    after_end: bool = False,
    held: Held | None = None,
) -> Written:
    """Append one entry as its author; signed if that author is registered.

    With `entry_id` the same call may be made again: an entry that stands there is not repeated.
    Whoever speaks often in one file keeps it `held`.
    """
    with desk(file, clock, space, draft.author, held) as at:
        if at.witness is not None:
            at.apply_policy()
        before = _written_before(at, tidy_draft(draft, escape), entry_id)
        if before is not None:
            return before
        addition = prepare_own_entry(
            at.checked,
            draft,
            entry_id or str(uuid.uuid4()),  # BNC-105
            at.now,
            escape=escape,
            after_end=after_end,
        )
        signs = at.registered(draft.author)
        made = partial(ask.Add, after_end=after_end) if signs else ask.Observe
        at.put_entry(addition, made, draft.author if signs else at.witness)
        return Written((addition.id,), at.checked, _how(at, signs), findings=addition.findings)


def _how(at: Desk, signed: bool) -> str | None:
    if at.record is None or not (signed or at.witness):
        return None
    return SIGNED if signed else OBSERVED


def _written_before(at: Desk, draft: EntryDraft, entry_id: str | None) -> Written | None:
    """The same entry stands there already: from a call that never heard back."""
    document = at.checked.document
    known = document.find_entry(entry_id) if entry_id else None
    known = known if known is not None and known.yielded else None
    if known is not None and not is_exactly(known, draft):
        raise Refused(
            "id_taken", f"another entry has the id {entry_id}", hint="a new entry needs a new id"
        )
    waiting = {one.id for one in at.record.state.unsigned} if at.record else set()
    observed = reversed(document.entries if waiting else ())
    mine = (entry for entry in observed if entry.id in waiting and is_exactly(entry, draft))
    left = (entry for entry in mine if _unsigned(at, entry))
    found = known or next(left, None)
    if found is None:
        return None
    if _unsigned(at, found):
        _sign(at, found)
    return Written((found.id,), at.checked, _how(at, at.registered(draft.author)), again=True)


def _unsigned(at: Desk, entry: DebateEntry) -> bool:
    """Was it only observed, although its author could sign it?"""
    if at.record is None or at.record.state.find_unsigned_entry(entry.id) is None:
        return False
    return at.registered(entry.author)


def _sign(at: Desk, entry: DebateEntry) -> None:
    found = at.record.state.find_unsigned_entry(entry.id) if at.record else None
    if at.record is not None and found is not None:
        at.record.run([(ask.Sign(id=entry.id, sha256=found.sha256), entry.author)])


def sign(file: Path, author: str, clock: Clock, space: Workspace) -> Written:
    """Sign every entry of this author that was only observed."""
    with desk(file, clock, space, author) as at:
        mine = [e for e in at.checked.document.entries if e.author == author and _unsigned(at, e)]
        for entry in mine:
            _sign(at, entry)
        return Written(tuple(entry.id for entry in mine), at.checked, _how(at, signed=True))


def tick(
    file: Path, clock: Clock, space: Workspace | None = None, held: Held | None = None
) -> Written:
    """Let a turn that has timed out take effect, as the session's own policy says."""
    with desk(file, clock, space, held=held) as at:
        done = at.apply_policy()
        return Written(tuple(done), at.checked, _how(at, signed=False))


def resume_late(
    file: Path, clock: Clock, space: Workspace | None = None, operator: Operator = nobody
) -> Written:
    """The operator gives the late agent its time again."""
    with desk(file, clock, space) as at:
        before, text = make_resumption_mark(at.checked, at.now)
        who = operator() if at.record else None
        at.put_mark(before, text, ask.Resume, who or at.witness)
        return Written((), at.checked, _how(at, who is not None))


def resume_skipping(
    file: Path, clock: Clock, space: Workspace | None = None, operator: Operator = nobody
) -> Written:
    """The operator passes over the late agent."""
    with desk(file, clock, space) as at:
        before, draft = draft_skipped_turn(at.checked, at.now)
        addition = prepare_entry(before, draft, str(uuid.uuid4()), at.now)
        who = operator() if at.record else None
        made = partial(ask.Escalate, agent=draft.author)
        at.put_entry(addition, made, who or at.witness)
        return Written((addition.id,), at.checked, _how(at, who is not None))


def close(
    file: Path,
    reason: str,
    clock: Clock,
    space: Workspace | None = None,
    operator: Operator = nobody,
) -> Written:
    """The operator ends the session."""
    with desk(file, clock, space) as at:
        addition = prepare_closing(at.checked, reason, str(uuid.uuid4()), at.now)
        who = operator() if at.record else None
        at.put_entry(addition, ask.Add if who else ask.Observe, who or at.witness)
        return Written((addition.id,), at.checked, _how(at, who is not None))


def add_context(
    file: Path,
    title: str,
    text: str,
    clock: Clock,
    space: Workspace | None = None,
    operator: Operator = nobody,
) -> Written:
    """The operator adds a subsection to the context: the one write that is not at the end."""
    with desk(file, clock, space) as at:
        data = add_context_section(at.checked, title, text).encode()
        who = operator() if at.record else None
        actor = who or at.witness
        write = partial(rewrite, file, data)
        if at.record is None or actor is None:
            write()
        else:
            at.record.run([(_context(at, at.record, data), actor)], write)
        return Written((), read(file), _how(at, who is not None))


def _context(at: Desk, record: Record, data: bytes) -> ask.AddContext:
    section = at.checked.document.find_section("Context")
    start = at.bytes_before(section.end if section else 0)
    size = len(data) - at.reading.size
    digest = hashlib.sha256(data[: record.state.size + size]).hexdigest()
    piece = data[start : start + size].decode()
    return ask.AddContext(start=start, text=piece, digest=digest)
