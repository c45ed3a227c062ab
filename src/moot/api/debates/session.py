"""Add to a debate on disk, and record what was added.

Each function takes a workspace or None; without one only the file is written. In a workspace, what
is written to a recorded session or by a registered agent is recorded in the same step, as
`locked_session.py` says. If a process dies in between, the file is ahead: the next process records
the entry as observed, and its author signs it by repeating the call with the same id.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from moot.api.debates.locked_session import LockedSession, lock_session
from moot.api.debates.record import SessionRecord
from moot.api.debates.session_file import CachedFile, create, read_file, rewrite, with_md_ending
from moot.core.clock import Clock
from moot.core.errors import Refused
from moot.core.failed_answer import FailedAnswer
from moot.core.findings import Finding
from moot.engine.job import NO_LINK, Link
from moot.protocols.debate.checker import CheckedSession, check_session
from moot.protocols.debate.commands import Add, AddContext, Escalate, Observe, Resume, Sign
from moot.protocols.debate.drafts import EntryDraft, add_context_section, tidy_draft
from moot.protocols.debate.escalation import draft_skipped_turn, make_resumption_mark
from moot.protocols.debate.model import DebateEntry
from moot.protocols.debate.views import find_deadlock_policy, require_course
from moot.protocols.debate.writer import (
    find_closing_author,
    is_exactly,
    prepare_closing,
    prepare_entry,
    prepare_own_entry,
    require_person,
)
from moot.workspace.workspace import Workspace

SIGNED: Final = "signed"
OBSERVED: Final = "observed"
# Returns the person who acts; called only if the act is recorded. None: it is only observed.
Operator = Callable[[], str | None]


def no_operator() -> None:
    return None


class WrittenSession(msgspec.Struct, frozen=True):
    """What was written: the entries, the session as it is now, and how it was recorded.

    `recorded` is `signed` (by the key of the author or a person), `observed` (by Moot) or None (the
    file is not recorded). `again`: the entry was in the file before and was at most signed now.
    """

    entries: tuple[str, ...]
    checked: CheckedSession
    recorded: str | None
    again: bool = False
    findings: tuple[Finding, ...] = ()


def read(file: Path) -> CheckedSession:
    """Read and check the session in this file."""
    return check_session(read_file(file), file_name=file.name)


def new(
    file: Path,
    text: str,
    workspace: Workspace | None = None,
    by: str | None = None,
    link: Link = NO_LINK,
) -> Path:
    """Create a file with this text; in a workspace the session is recorded in the same step."""
    file = with_md_ending(file)
    if workspace is not None:
        checked = check_session(text)
        record = SessionRecord(workspace, file, checked.document.session_id)
        is_registered = by is not None and by in record.engine.registry().agents
        actor = by if is_registered else record.witness(None)
        if actor is not None:
            record.begin(checked, actor, partial(create, file, text), link)
            return file
    create(file, text)
    return file


def add(
    file: Path,
    draft: EntryDraft,
    clock: Clock,
    workspace: Workspace | None = None,
    *,
    entry_id: str | None = None,
    escape: bool = False,
    after_end: bool = False,
    round_number: int | None = None,
    cached: CachedFile | None = None,
) -> WrittenSession:
    """Append one entry as its author; signed if that author is registered.

    With `entry_id` the call may be repeated: an entry that is in the file is not written again.
    A caller that writes often to one file keeps it `cached`.
    """
    with lock_session(file, clock, workspace, draft.author, cached) as debate:
        if debate.witness is not None:
            debate.apply_policy()
        before = _find_written_before(debate, tidy_draft(draft, escape), entry_id)
        if before is not None:
            return before
        addition = prepare_own_entry(
            debate.checked,
            draft,
            entry_id or str(uuid.uuid4()),  # BNC-105
            debate.now,
            escape=escape,
            after_end=after_end,
            round_number=round_number,
        )
        signs = debate.is_registered(draft.author)
        make_command = partial(Add, after_end=after_end) if signs else Observe
        debate.append_entry(addition, make_command, draft.author if signs else debate.witness)
        if find_deadlock_policy(debate.checked) is not None:
            debate.apply_policy()
        written = _make_result(debate, (addition.id,), signs)
        return msgspec.structs.replace(written, findings=addition.findings)


def _make_result(
    debate: LockedSession, entries: Iterable[str], signed: bool, *, again: bool = False
) -> WrittenSession:
    recorded = SIGNED if signed else OBSERVED if debate.witness else None
    return WrittenSession(
        tuple(entries), debate.checked, None if debate.record is None else recorded, again
    )


def _find_written_before(
    debate: LockedSession, draft: EntryDraft, entry_id: str | None
) -> WrittenSession | None:
    """Find the same entry in the file, from a call that got no answer, and sign it if needed."""
    document = debate.checked.document
    known = document.find_entry(entry_id) if entry_id else None
    known = known if known is not None and known.yielded else None
    if known is not None and not is_exactly(known, draft):
        raise Refused(
            "id_taken", f"another entry has the id {entry_id}", hint="a new entry needs a new id"
        )
    signs = debate.is_registered(draft.author)
    waiting = {one.id for one in debate.record.state.unsigned} if debate.record and signs else ()
    observed = reversed(document.entries if waiting else ())
    own_entries = (entry for entry in observed if entry.id in waiting and is_exactly(entry, draft))
    found = known or next(own_entries, None)
    if found is None:
        return None
    _sign_observed(debate, found)
    return _make_result(debate, (found.id,), signs, again=True)


def _sign_observed(debate: LockedSession, entry: DebateEntry) -> bool:
    """Sign an entry that was only observed, if its author can; False if nothing was signed."""
    record = debate.record
    if record is None or not debate.is_registered(entry.author):
        return False
    unsigned_entry = record.state.find_unsigned_entry(entry.id)
    if unsigned_entry is None:
        return False
    record.run([(Sign(id=entry.id, sha256=unsigned_entry.sha256), entry.author)])
    return True


def sign(file: Path, author: str, clock: Clock, workspace: Workspace) -> WrittenSession:
    """Sign every entry of this author that was only observed."""
    with lock_session(file, clock, workspace, author) as debate:
        own_entries = [each for each in debate.checked.document.entries if each.author == author]
        signed = [entry.id for entry in own_entries if _sign_observed(debate, entry)]
        return _make_result(debate, signed, signed=True)


def tick(
    file: Path, clock: Clock, workspace: Workspace | None = None, cached: CachedFile | None = None
) -> WrittenSession:
    """Let a turn that has timed out take effect, as the session's own policy says."""
    with lock_session(file, clock, workspace, cached=cached) as debate:
        return _make_result(debate, debate.apply_policy(), signed=False)


def skip_failed(
    file: Path,
    agent: str,
    failure: FailedAnswer,
    clock: Clock,
    workspace: Workspace | None = None,
    cached: CachedFile | None = None,
) -> WrittenSession:
    """Apply the session's policy to an agent that has certainly failed (G-01).

    Writes nothing if it is not this agent's turn, or if the policy leaves it to a person.
    """
    with lock_session(file, clock, workspace, cached=cached) as debate:
        return _make_result(debate, debate.skip_failed(agent, failure), signed=False)


def resume_late(
    file: Path, clock: Clock, workspace: Workspace | None = None, operator: Operator = no_operator
) -> WrittenSession:
    """Give the late agent its time again, as the operator."""
    with lock_session(file, clock, workspace) as debate:
        before, text = make_resumption_mark(debate.checked, debate.now)
        who = operator() if debate.record else None
        debate.append_mark(before, text, Resume, who or debate.witness)
        return _make_result(debate, (), who is not None)


def resume_skipping(
    file: Path,
    clock: Clock,
    workspace: Workspace | None = None,
    operator: Operator = no_operator,
    operator_name: str | None = None,
) -> WrittenSession:
    """Skip the late agent, as the operator; `operator_name` names them in an unrecorded file."""
    with lock_session(file, clock, workspace) as debate:
        draft_skipped_turn(debate.checked, debate.now)  # Refused before anyone is asked for a key
        who = operator() if debate.record else None
        person = who or require_person(require_course(debate.checked).rules, operator_name)
        before, draft = draft_skipped_turn(debate.checked, debate.now, person)
        addition = prepare_entry(before, draft, str(uuid.uuid4()), debate.now)
        make_command = partial(Escalate, agent=draft.author)
        debate.append_entry(addition, make_command, who or debate.witness)
        return _make_result(debate, (addition.id,), who is not None)


def close(
    file: Path,
    reason: str,
    clock: Clock,
    workspace: Workspace | None = None,
    operator: Operator = no_operator,
    operator_name: str | None = None,
) -> WrittenSession:
    """End the session, as the operator; `operator_name` names them in an unrecorded file."""
    with lock_session(file, clock, workspace) as debate:
        who = operator() if debate.record else None
        author = find_closing_author(require_course(debate.checked).rules, who, operator_name)
        addition = prepare_closing(debate.checked, reason, str(uuid.uuid4()), debate.now, author)
        debate.append_entry(addition, Add if who else Observe, who or debate.witness)
        return _make_result(debate, (addition.id,), who is not None)


def add_context(
    file: Path,
    title: str,
    text: str,
    clock: Clock,
    workspace: Workspace | None = None,
    operator: Operator = no_operator,
) -> WrittenSession:
    """Add a subsection to the context, as the operator: the only write that is not an append."""
    with lock_session(file, clock, workspace) as debate:
        data = add_context_section(debate.checked, title, text).encode()
        who = operator() if debate.record else None
        actor = who or debate.witness
        write = partial(rewrite, file, data)
        if debate.record is None or actor is None:
            write()
        else:
            debate.record.run([(_build_context_command(debate, debate.record, data), actor)], write)
        written = _make_result(debate, (), who is not None)
        return msgspec.structs.replace(written, checked=read(file))


def _build_context_command(debate: LockedSession, record: SessionRecord, data: bytes) -> AddContext:
    section = debate.checked.document.find_section("Context")
    start = debate.bytes_before(section.end if section else 0)
    size = len(data) - debate.reading.size
    digest = hashlib.sha256(data[: record.state.size + size]).hexdigest()
    piece = data[start : start + size].decode()
    return AddContext(start=start, text=piece, digest=digest)
