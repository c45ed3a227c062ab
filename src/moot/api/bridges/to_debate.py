"""Open a debate about a BLOCKED, QUESTION, KICKOFF or CRITIQUE message (FLO-01, FLO-09).

The sender, the receivers and the agents named in addition take part. The Context quotes the
message, so none of its lines can be a heading, a fence or a mark of the protocol (XPR-09).
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

from moot.api.bridges import sources
from moot.api.bridges.participants import DebatePlan, find_agent_name, require_not_evicted
from moot.api.bridges.sources import MessageSource
from moot.api.bridges.steps import StepPlan, TakenStep, take_step
from moot.api.debates import session
from moot.api.debates.record import SessionRecord, path_in_record, stream_of
from moot.api.debates.session_file import make_title, quote_lines
from moot.api.debates.session_file import with_md_ending as with_md_ending
from moot.api.mail.messages import read_message_text
from moot.core.errors import Refused
from moot.core.names import SYSTEM
from moot.engine.job import Link
from moot.protocols.debate.model import Rules
from moot.protocols.debate.writer import make_session_text
from moot.protocols.mail.body import MessageBody, unwrap_text_block
from moot.protocols.mail.events import MessageImported
from moot.protocols.mail.types import MessageType
from moot.protocols.path.model import MadeThing, StepTarget
from moot.workspace.workspace import Workspace

FOLDER: Final = "paths"
# The message type that each flow takes, and the sections that the debate's Context quotes.
MESSAGE_SECTIONS: Final[dict[str, tuple[MessageType, tuple[str, ...]]]] = {
    "blocked-to-debate": (MessageType.BLOCKED, ("Item", "Blocker", "Attempted", "Needed")),
    "question-to-debate": (MessageType.QUESTION, ("Question", "Context", "Options", "Impact")),
    "kickoff-to-debate": (
        MessageType.KICKOFF,
        ("Research Question", "Context", "Constraints", "Initial Hypotheses"),
    ),
    "critique-to-debate": (
        MessageType.CRITIQUE,
        ("Target", "Attack", "Evidence", "Proposed Resolution"),
    ),
}


def message_to_debate(
    workspace: Workspace, flow: str, reference: str, asked_by: str, plan: DebatePlan
) -> TakenStep:
    kind, headings = MESSAGE_SECTIONS[flow]
    message = sources.find_message(workspace, reference, kind)
    body = MessageBody(read_message_text(workspace, message.recorded))
    if kind is MessageType.QUESTION and body.text_of("Urgency").casefold() != "blocking":
        raise Refused(
            "not_blocking",
            "this question is not marked as blocking",
            hint=f"answer it (`moot mail ack {message.flow_source.source.id} --notes ...`);"
            " only Urgency: Blocking is debated",
        )
    agents = _list_agents(workspace, message, plan)
    if not plan.even_if_gone:
        require_not_evicted(workspace, agents)
    sections = [(name, unwrap_text_block(body.text_of(name))) for name in headings]
    context = _write_context([part for part in sections if part[1]], message, asked_by)
    rules = Rules(
        agents,
        turn_timeout=plan.turn_seconds,
        consensus_threshold=plan.threshold,
        max_rounds=plan.rounds,
    )
    name = make_title(message.flow_source.title or flow)

    def make(target: StepTarget, link: Link) -> tuple[MadeThing, ...]:
        text = make_session_text(name, context, rules, target.id, workspace.engine.clock())
        return _create_session(workspace, target, text, link)

    return take_step(
        workspace,
        StepPlan(
            flow,
            message.flow_source,
            asked_by,
            lambda: _target(workspace, plan.file),
            make,
            needs_new_stream=True,
            file=_recorded_path(workspace, plan.file) if plan.file is not None else "",
        ),
    )


def _list_agents(workspace: Workspace, message: MessageSource, plan: DebatePlan) -> tuple[str, ...]:
    """Return sender, receivers and named agents, each by its agent name (FLO-10)."""
    event, origin = message.recorded.event, message.flow_source.origin
    receivers = [receiver.name for receiver in (*event.to, *event.cc)]
    given = [name for name in (origin, *receivers, *plan.participants) if name != SYSTEM]
    names = tuple(dict.fromkeys(_require_agent(workspace, name) for name in given))
    if len(names) < 2:
        raise Refused(
            "bad_participants", "a debate needs at least two agents", hint="add --with NAME"
        )
    return names


def _require_agent(workspace: Workspace, name: str) -> str:
    agent = find_agent_name(workspace, name)
    if agent is None:
        raise Refused(
            "agent_not_found",
            f"no agent here has the name {name[:60]!r}",
            hint="`moot agent list` shows all; `moot agent register NAME` adds one",
        )
    return agent


def _write_context(sections: list[tuple[str, str]], message: MessageSource, asked_by: str) -> str:
    quoted = "\n".join(f"### {name}\n\n{quote_lines(text)}" for name, text in sections)
    source = message.flow_source.source
    event = getattr(message.recorded.event, "event", None)
    refs = f"mail:{source.id}" + (f", event:{event}" if event else "")
    if isinstance(message.recorded.event, MessageImported):
        refs += ", taken in from outside and not proved"
    return (
        f"{quoted}\nOpened by system for {message.flow_source.origin}, asked by {asked_by}."
        f" Evidence: {refs} (record {source.hash[:12]})."
    )


def _target(workspace: Workspace, file: Path | None) -> StepTarget:
    """Return a new session id, and a file named after it unless the asker chose one."""
    session_id = str(uuid.uuid4())
    place = file or workspace.path / FOLDER / f"debate-{session_id[:8]}.md"
    return StepTarget(stream_of(session_id), session_id, _recorded_path(workspace, place))


def _recorded_path(workspace: Workspace, file: Path) -> str:
    return path_in_record(workspace.root, with_md_ending(file))


def _create_session(
    workspace: Workspace, target: StepTarget, text: str, link: Link
) -> tuple[MadeThing, ...]:
    """Create the file and its record, or finish what an interrupted run left."""
    file = workspace.root / target.file
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        session.new(file, text, workspace, link=link)
    _require_same_session(file, target)
    record = SessionRecord(workspace, file, target.id)
    if not record.is_known:
        record.begin(session.read(file), SYSTEM, link=link)
    return (MadeThing("session", target.stream, 0, target.id),)


def _require_same_session(file: Path, target: StepTarget) -> None:
    session_id = session.read(file).document.session_id
    if session_id != target.id:
        raise Refused(
            "file_taken",
            f"{file} contains another session",
            hint="move it away, or name another file: --file FILE",
        )
