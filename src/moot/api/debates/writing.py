"""Operations that begin, continue and close a debate in its file.

In a workspace each write is recorded in the same step: signed if its author or a person has a key
here, else as observed by Moot. Without a workspace only the file is written. Each docstring says
what a repeated call does.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.debates.places import file_of_debate, hint_if_recorded
from moot.api.operation import operation
from moot.core.errors import Malformed, NotFound, Refused
from moot.core.findings import Finding
from moot.protocols.debate.model import (
    DECIMAL_PATTERN,
    UUID_V4_PATTERN,
    ConsensusMode,
    DefaultAction,
    Escalation,
    OutputFormat,
    Rules,
    Stance,
    TurnOrder,
)
from moot.protocols.debate.phases import Phase

if TYPE_CHECKING:
    from moot.api.debates.session import Operator, WrittenSession
    from moot.api.session import Session

__all__ = [
    "DECIMAL_PATTERN",
    "UUID_V4_PATTERN",
    "AddedContext",
    "AddedEntry",
    "ConsensusMode",
    "DebateProgress",
    "DefaultAction",
    "Escalation",
    "NewDebate",
    "OutputFormat",
    "Stance",
    "TurnOrder",
    "add",
    "add_context",
    "close",
    "new",
    "resume",
    "sign",
    "tick",
]


MAX_TURN_SECONDS: Final = 86_400  # seconds; the document allows no more
DEBATES_FOLDER: Final = "debates"  # for debates without a named file


class NewDebate(msgspec.Struct, frozen=True):
    """A debate that was begun; `findings` warn of names that other programs may refuse."""

    file: str
    session_id: str
    title: str
    agents: tuple[str, ...]
    turn_timeout: int
    escalation: Escalation
    people: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class AddedEntry(msgspec.Struct, frozen=True):
    """An entry as it is now, and the debate's state after it.

    `recorded` is signed, observed or None (the file is not recorded). `again`: an earlier call had
    written the entry, and it was at most signed now.
    """

    entry: str
    author: str | None
    round: int | None
    turn: int | None
    state: Phase
    next: str | None
    recorded: str | None
    again: bool
    findings: tuple[Finding, ...]


class AddedContext(msgspec.Struct, frozen=True):
    file: str
    title: str
    recorded: str | None


class DebateProgress(msgspec.Struct, frozen=True):
    """The entries that were written or signed, and the state of the debate after them."""

    entries: tuple[str, ...]
    state: Phase
    round: int
    turn: int
    next: str | None
    deadline: str | None
    ended_at_round: int | None
    recorded: str | None


@operation("debate.new", writes=True, as_ledger=True, can_use_agent_key=True)
def new(
    session: Session,
    file: Path | None,
    title: str,
    agents: Sequence[str],
    *,
    context: str | None = None,
    turn_order: TurnOrder = TurnOrder.ROUND_ROBIN,
    max_turns_per_round: int = 1,
    turn_timeout: int | None = None,
    consensus_threshold: Decimal = Decimal("0.7"),
    consensus_mode: ConsensusMode = ConsensusMode.MAJORITY,
    escalation: Escalation = Escalation.HUMAN,
    max_rounds: int = 5,
    output_format: OutputFormat = OutputFormat.STRUCTURED,
    defer_in_denominator: bool = False,
    supervisor_only: bool = False,
    default_action: DefaultAction = DefaultAction.NEUTRAL,
    people: Sequence[str] = (),
    key: str | None = None,
) -> NewDebate:
    """Begin a debate: a file, ending with .md, that each of `agents` appends to in turn.

    Without `file` it is put into the workspace. `context` is what is known and asked; it defaults
    to the title. `people` are agents who are people though their names do not begin with `human`;
    agents with a person's key are added. `turn_timeout` is in seconds: 300, but a day if people
    take part and the policy is `human`, which stops a session at a timeout. Refused if a setting is
    not allowed or the file exists; a repeat is refused too, unless both calls have the same `key`.
    """
    from moot.api.debates import session as debate_session
    from moot.protocols.debate.checker import check_session
    from moot.protocols.debate.writer import make_session_text

    people = _find_people(session, agents, people)
    if turn_timeout is None:
        waits_for_person = Escalation(escalation) is Escalation.HUMAN and (
            people or any(agent.startswith("human") for agent in agents)
        )
        turn_timeout = MAX_TURN_SECONDS if waits_for_person else Rules(()).turn_timeout
    rules = Rules(
        tuple(agents),
        TurnOrder(turn_order),
        max_turns_per_round,
        turn_timeout,
        consensus_threshold,
        ConsensusMode(consensus_mode),
        Escalation(escalation),
        max_rounds,
        OutputFormat(output_format),
        defer_in_denominator,
        supervisor_only,
        DefaultAction(default_action),
        people,
    )
    session_id = str(uuid.uuid4()) if key is None else _id_for_key(session, key)
    if key is not None and _has_file(session, session_id):
        known_file = str(file_of_debate(session, session_id))
        return NewDebate(
            known_file, session_id, title, rules.agents, turn_timeout, rules.escalation
        )
    if file is None:
        file = session.workspace.path / DEBATES_FOLDER / f"{session_id}.md"
        file.parent.mkdir(exist_ok=True)
    material = title if context is None else context
    text = make_session_text(title, material, rules, session_id, session.clock())
    made = debate_session.new(file, text, session.workspace_or_none, session.acting)
    return NewDebate(
        str(made),
        session_id,
        title,
        rules.agents,
        turn_timeout,
        rules.escalation,
        rules.people,
        check_session(text).findings,
    )


def _find_people(session: Session, agents: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Return the agents that are people: those named, and those with a person's key."""
    unknown_names = [name for name in named if name not in agents]
    if unknown_names:
        raise Refused(
            "unknown_agent",
            f"{unknown_names[0]} is not one of the agents",
            hint=f"name some of {', '.join(agents)}",
        )
    workspace = session.workspace_or_none
    registered = workspace.engine.registry().human_keys() if workspace else ()
    people_names = {*named, *(key.name for key in registered)}
    return tuple(name for name in agents if name in people_names and not name.startswith("human"))


@operation("debate.add", writes=True, as_ledger=True, can_use_agent_key=True)
def add(
    session: Session,
    file: Path,
    *,
    author: str | None = None,
    stance: Stance | str = "",
    confidence: Decimal | float | str = "",
    summary: str = "",
    body: str = "",
    action_requested: str = "n/a",
    next_agent: str = "",
    evidence: str = "n/a",
    escape: bool = False,
    after_end: bool = False,
    round_number: int | None = None,
    entry_id: str | None = None,
    key: str | None = None,
) -> AddedEntry:
    """Append one entry as its author; its turn, round and time are filled in.

    With `round_number` the supervisor of a supervised debate begins the next round before everyone
    has spoken; any other author may only name the current round. Refused if it is another agent's
    turn, an entry is unfinished, the debate has ended (allowed with `after_end`), or the text would
    change the file's structure (`escape` writes comments in it as visible text). With `entry_id`, a
    UUID of version 4, or a `key` to make one from, the call may be repeated: an entry that is in
    the file is not written again. The entry that settles a question to agents records its result.
    """
    from moot.api.debates import session as debate_session
    from moot.protocols.debate.drafts import EntryDraft
    from moot.protocols.debate.views import view_status

    if entry_id is None and key is not None:
        entry_id = _id_for_key(session, f"{file.name} {key}")
    if entry_id is not None and not UUID_V4_PATTERN.fullmatch(entry_id):
        raise Malformed(
            f"{entry_id!r} is not an entry id",
            code="bad_entry_id",
            hint="an id is a lower-case UUID of version 4",
        )
    draft = EntryDraft(
        author=session.actor(author),
        stance=stance,
        confidence=str(confidence),
        summary=summary,
        action_requested=action_requested,
        evidence=evidence,
        body=body,
        next_agent=next_agent,
    )
    with hint_if_recorded(session, file):
        written = debate_session.add(
            file,
            draft,
            session.clock,
            session.workspace_or_none,
            entry_id=entry_id,
            escape=escape,
            after_end=after_end,
            round_number=round_number,
        )
    workspace, document = session.workspace_or_none, written.checked.document
    if workspace is not None and written.recorded is not None:
        from moot.api.decisions.council import settle_decisions_of

        settle_decisions_of(workspace, f"debate/{document.session_id}")
    status = view_status(written.checked, session.clock())
    entry = document.find_entry(written.entries[0])
    return AddedEntry(
        entry=written.entries[0],
        author=entry.author if entry else None,
        round=entry.round if entry else None,
        turn=entry.turn if entry else None,
        state=status.state,
        next=status.next,
        recorded=written.recorded,
        again=written.again,
        findings=written.findings,
    )


def _id_for_key(session: Session, key: str) -> str:
    """Return the same id for the same key and agent, in the form of a random UUID."""
    digest = hashlib.sha256(f"{session.actor()} {key}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _has_file(session: Session, session_id: str) -> bool:
    try:
        return file_of_debate(session, session_id).exists()
    except NotFound:
        return False


@operation("debate.add_context", writes=True, as_ledger=True, can_use_agent_key=True)
def add_context(session: Session, file: Path, title: str, text: str) -> AddedContext:
    """Add a subsection to the context. Only the operator may: an agent is refused.

    All earlier text in the file is kept unchanged. A repeat adds a second subsection.
    """
    from moot.api.debates import session as debate_session

    written = debate_session.add_context(
        file, title, text, session.clock, session.workspace_or_none, _operator_of(session)
    )
    return AddedContext(str(file), title, written.recorded)


@operation("debate.tick", writes=True, as_ledger=True, can_use_agent_key=True)
def tick(session: Session, file: Path) -> DebateProgress:
    """Apply the session's policy to a turn that has timed out.

    timeout-skip and default-action write an entry for each silent agent; human writes nothing. A
    repeat writes nothing. A recorded file that lost its end is restored; a changed one is refused.
    """
    from moot.api.debates import session as debate_session

    return _progress(session, debate_session.tick(file, session.clock, session.workspace_or_none))


@operation("debate.resume", writes=True, as_ledger=True, can_use_agent_key=True)
def resume(session: Session, file: Path, *, late: bool) -> DebateProgress:
    """Resume a debate that waits for its operator.

    `late` gives the late agent its time again; otherwise it is skipped. Only the operator may: an
    agent is refused, and so is a repeat, as nothing waits any more.
    """
    from moot.api.debates.session import resume_late, resume_skipping

    act = resume_late if late else partial(resume_skipping, operator_name=session.acting)
    operator = _operator_of(session)
    return _progress(session, act(file, session.clock, session.workspace_or_none, operator))


@operation("debate.close", writes=True, as_ledger=True, can_use_agent_key=True)
def close(session: Session, file: Path, reason: str) -> DebateProgress:
    """End a debate. Only the operator may: an agent is refused.

    A listed person's own entry ends it (R17). For an operator who is not listed a mark ends it,
    and `system` writes a summary below the mark. Refused if it has ended, so also when repeated.
    """
    from moot.api.debates import session as debate_session

    written = debate_session.close(
        file,
        reason,
        session.clock,
        session.workspace_or_none,
        _operator_of(session),
        session.acting,
    )
    return _progress(session, written)


@operation("debate.sign", writes=True, as_ledger=True, can_use_agent_key=True)
def sign(session: Session, file: Path, *, author: str | None = None) -> DebateProgress:
    """Sign your own entries that are in the file and were only observed.

    Needs a workspace. A repeat finds nothing left to sign.
    """
    from moot.api.debates import session as debate_session

    name = session.actor(author)
    written = debate_session.sign(file, name, session.clock, session.workspace)
    return _progress(session, written)


def _operator_of(session: Session) -> Operator:
    """Return how to find the acting person; it is called only if the act is recorded."""
    return partial(session.operator, "this act of the operator")


def _progress(session: Session, written: WrittenSession) -> DebateProgress:
    from moot.protocols.debate.views import view_status

    status = view_status(written.checked, session.clock())
    return DebateProgress(
        written.entries,
        status.state,
        status.round,
        status.turn,
        status.next,
        status.deadline,
        status.ended_at_round,
        written.recorded,
    )
