"""`bb-init` and the commands of `bb agent` except heartbeat; each calls a command of `moot`.

The options are those of Operative's own programs. A scope is read from the root of the worktree,
whatever the current folder is (B-11). A role and a display name, which `moot` does not have, are
accepted and not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click
from msgspec import structs

from moot.api.mail import reading
from moot.api.presence.joining import Joined
from moot.api.typed_paths import typed_from_root
from moot.api.workspace import workspaces
from moot.core.findings import Finding, Severity
from moot.core.names import require_agent_name
from moot.surfaces.cli.bb import SETTINGS
from moot.surfaces.cli.mail import answers as mail_acks
from moot.surfaces.cli.mail import reading as messages
from moot.surfaces.cli.mail import writing as sending
from moot.surfaces.cli.presence import agents
from moot.surfaces.cli.presence import event as events
from moot.surfaces.cli.presence import scope as scopes_
from moot.surfaces.cli.presence import status as screen
from moot.surfaces.cli.presence.join import (
    answer_join,
    hints_from_root,
    join_options,
    remark_on_misread,
)
from moot.surfaces.terminal.answer import Answer, say_aside
from moot.surfaces.terminal.shell import Shell, command, help_of
from moot.surfaces.terminal.typed import name_as_operative

# A command of `moot`, and its arguments.
Forwarded = tuple[click.Command, dict[str, Any]]


@command(None, "bb-init", "join", context_settings=SETTINGS)
@join_options
def bb_init(shell: Shell, scopes: tuple[str, ...], **ways: Any) -> Answer:
    """Join the work in this repository under a name of your own.

    Without options you get a new name; if there is unfinished work, you choose whether to continue
    it. Adopting is possible only if files in that agent's scope are uncommitted, or it owns a work
    item in progress. A SCOPE is read from the root of the worktree, whatever folder you are in. In
    a git repository without a workspace it makes one first.

    Examples:
      bb-init --non-interactive --json
      bb-init --register amber-otter --scope src/auth
      bb-init --adopt amber-otter
    """
    shell.is_operative = True
    session = shell.session
    made = _make_workspace(shell, ways["register"]) if ways["adopt"] is None else []
    with hints_from_root(session, scopes):
        answer = answer_join(
            shell, scopes, lambda: [*made, *remark_on_misread(scopes, session.place)], **ways
        )
    joined = answer.data
    assert isinstance(joined, Joined)
    advice = joined.recommendation
    advice = structs.replace(advice, command=name_as_operative(advice.command))
    return structs.replace(answer, data=structs.replace(joined, recommendation=advice))


def _make_workspace(shell: Shell, name: str | None) -> list[Finding]:
    """Make the workspace that a fresh repository lacks, and say so: Operative has no `init`.

    An invalid name is refused before anything is made.
    """
    session = shell.session
    if not workspaces.is_fresh_repository(session):
        return []
    if name is not None:
        require_agent_name(name)
    made = workspaces.init(session)
    return [
        Finding(
            rule="B-24",
            code="workspace_made",
            severity=Severity.WARNING,
            message="this repository had no workspace, so one was made",
            where=made.workspace,
            hint="`moot init` makes a key of your own and sets up coding tools",
        )
    ]


def _option(name: str, help_: str, **more: Any) -> Callable[[Any], Any]:
    return click.option(name, **{"metavar": name.strip("-").upper(), **more}, help=help_)


_AGENT: Final = _option("--agent", "Who acts (default: MOOT_AGENT).", metavar="NAME")
_SCOPE: Final = _option("--scope", "Files or a folder, from the root.", required=True)
_MESSAGE: Final = _option("--message", "The id of a message or an event.", required=True)
_BEAD: Final = _option("--bead", "The work item.", required=True, metavar="ID")


def _forward(
    name: str, *options: Callable[[Any], Any], acts: str = "agent"
) -> Callable[[Callable[..., Forwarded]], click.Command]:
    """Make a command that calls a command of `moot` as the agent that the option `acts` names."""

    def register_(function: Callable[..., Forwarded]) -> click.Command:
        @click.pass_context
        def invoke(context: click.Context, /, **values: Any) -> None:
            shell = context.find_object(Shell)
            assert shell is not None
            if actor := values.pop(acts, None):
                shell.act_as(actor)
            target, parameters = function(shell, **values)
            context.invoke(target, **parameters)

        for option in reversed(options):
            invoke = option(invoke)
        return click.command(name, help=help_of(function))(invoke)

    return register_


@_forward(
    "register",
    _option("--name", "The new name.", required=True),
    _option("--role", "Accepted, but not stored.", metavar="TEXT"),
    _option("--display", "Accepted, but not stored.", metavar="TEXT"),
)
def register(_shell: Shell, name: str, role: str | None, display: str | None) -> Forwarded:
    """Register a new name with a key of its own. A name is never given twice.

    Examples:
      bb agent register --name amber-otter --role backend
    """
    if role or display:
        say_aside("--role and --display are not stored: an agent is known by its name")
    return agents.register, {"name": name}


@_forward("list")
def list_agents(_shell: Shell) -> Forwarded:
    """List who is registered here, active ones first.

    Examples:
      bb agent list --json
    """
    return agents.list_agents, {}


@_forward("show", _option("--agent", "Whom to show.", required=True, metavar="NAME"), acts="")
def show(_shell: Shell, agent: str) -> Forwarded:
    """Show one agent: its liveness and the evidence for it, what it holds, its keys.

    Examples:
      bb agent show --agent amber-otter
    """
    return agents.show, {"name": agent}


@_forward("status", _option("--agent", "Show only this agent.", metavar="NAME"), acts="")
def status(_shell: Shell, agent: str | None) -> Forwarded:
    """Show who is here, who holds what and what is due; or one agent.

    Examples:
      bb agent status
      bb agent status --agent amber-otter --json
    """
    return (screen.status, {}) if agent is None else (agents.show, {"name": agent})


@_forward(
    "reserve",
    _AGENT,
    _SCOPE,
    _BEAD,
    _option("--ttl", "Expires after 5 to 1440 minutes.", type=int, metavar="MIN"),
    click.option("--takeover-stale", is_flag=True, help="Take it over from a stale owner."),
)
def reserve(_shell: Shell, scope: str, bead: str, **more: Any) -> Forwarded:
    """Reserve files or a folder. `src/*` means the folder and all in it.

    Examples:
      bb agent reserve --agent amber-otter --scope 'src/lib/*' --bead bb-1
    """
    return scopes_.reserve, {"scopes": (typed_from_root(scope),), "work": bead, **more}


@_forward("release", _AGENT, _SCOPE)
def release(_shell: Shell, scope: str) -> Forwarded:
    """Release what you hold.

    Examples:
      bb agent release --agent amber-otter --scope 'src/lib/*'
    """
    return scopes_.release, {"scopes": (typed_from_root(scope),)}


@_forward(
    "send",
    _option("--from", "Who sends (default: MOOT_AGENT).", metavar="NAME"),
    _option("--to", "Who receives.", required=True, metavar="NAME"),
    _BEAD,
    click.option(
        "--category",
        required=True,
        type=click.Choice(["HANDOFF", "BLOCKED", "DECISION", "INFO"]),
        help="What kind it is.",
    ),
    _option("--subject", "What it is about; what is asked for.", required=True, metavar="TEXT"),
    _option("--body", "What to say.", required=True, metavar="TEXT"),
    _option("--thread", "Its thread (default: the bead's).", metavar="ID"),
    acts="from",
)
def send(_shell: Shell, category: str, bead: str, body: str, **values: Any) -> Forwarded:
    """Send a message. HANDOFF and BLOCKED are events too, and wait to be accepted.

    Their subject is also the action that is asked for; --thread is for DECISION and INFO.

    Examples:
      bb agent send --from amber-otter --to teal-crane --bead bb-1 --category INFO \\
        --subject "parser" --body "it is in"
    """
    to, subject = values["to"], values["subject"]
    common = {"to": to, "subject": subject, "work": bead}
    if category == "HANDOFF":
        return events.handoff, {**common, "summary": body, "next_action": subject}
    if category == "BLOCKED":
        return events.blocked, {**common, "blocker": body, "requested_action": subject}
    decided = "decision: " if category == "DECISION" else ""
    thread = values["thread"] or bead
    return sending.send, {
        "to": to,
        "subject": f"INFO: {decided}{subject}",
        "text": body,
        "thread": thread,
    }


@_forward("inbox", _AGENT, _option("--limit", "Show at most N.", type=int, metavar="N"))
def inbox(_shell: Shell, limit: int | None) -> Forwarded:
    """Show new messages for an agent. What is shown counts as seen.

    Examples:
      bb agent inbox --agent amber-otter
    """
    return messages.inbox, {} if limit is None else {"limit": limit}


@_forward("read", _AGENT, _MESSAGE)
def read(_shell: Shell, message: str) -> Forwarded:
    """Read one message; mark an event as seen.

    Examples:
      bb agent read --agent amber-otter --message bb-1:3
      bb agent read --agent amber-otter --message proto_20260214_001
    """
    if _is_event(message):
        return events.seen, {"event_id": message}
    return messages.show, {"message_id": message}


@_forward("ack", _AGENT, _MESSAGE)
def ack(shell: Shell, message: str) -> Forwarded:
    """Accept what was passed on to you, or acknowledge a message.

    It completes a HANDOFF; other messages are acknowledged as Understood.

    Examples:
      bb agent ack --agent amber-otter --message bb-1:3
      bb agent ack --agent amber-otter --message proto_20260214_001
    """
    if _is_event(message):
        return events.accept, {"event_id": message}
    shell.command = "mail.ack"  # it will write
    is_handoff = reading.show(shell.session, message).message.type == "HANDOFF"
    status = "Completed" if is_handoff else "Understood"
    return mail_acks.ack, {"message_id": message, "status": status}


def _is_event(name: str) -> bool:
    return name.startswith("proto_")
