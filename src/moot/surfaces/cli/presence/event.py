"""`moot event ...`, `handoff`, `blocked` and `plan`: pass work on, ask for help, share a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click

from moot.api.presence import events, plans
from moot.surfaces.terminal.answer import Answer, remarks, visible
from moot.surfaces.terminal.derive import derive
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.listing import listing
from moot.surfaces.terminal.shell import Shell, command, document

_TO = """
    --from NAME = sender  Who sends (default: you).
    --to NAME             Who receives.
"""
_ABOUT = """
    --scope SCOPE   The files or folder it concerns, from the folder you are in (:/x from the root).
    --subject TEXT  What it is about.
"""
_WORK = """
    --work, --bead ID  The work item (default: your own, else the branch).
"""
_HANDOFF = f"""
    {_ABOUT}
    --summary TEXT               The state of the work.
    --next-action TEXT           What to do next.
    {_WORK}
    --no-ack = not requires_ack  No acceptance is expected.
"""
_BLOCKED = f"""
    {_ABOUT}
    --blocker TEXT             What is in the way.
    --requested-action TEXT    What you need from them.
    --urgency low|medium|high  How urgent it is.
    {_WORK}
"""
SECTIONS = {
    "Send": {
        "handoff": "pass work on, with the scope you hold",
        "blocked": "say what blocks you, and what you need",
    },
    "Read and answer": {
        "list": "what was passed on, asked for, overlapped, resumed",
        "seen": "say that you have read an event",
        "accept": "take on what was passed to you",
        "withdraw": "take back a request, or mark an overlap as false",
    },
}


@click.command("event", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def event() -> None:
    """Events between agents: handoffs, requests, overlaps and resumed work."""


def _sent_lines(sent: events.SentEvent | events.SentNotice) -> Iterator[str]:
    about = f" (message {sent.message})" if isinstance(sent, events.SentNotice) else ""
    yield f"{sent.event.id}: {sent.event.from_agent} to {sent.event.to_agent}{about}"
    bare = sent.event.event_type == "HANDOFF" and sent.event.scope is None
    if bare and all(finding.code != "nothing_to_move" for finding in sent.findings):
        yield "it names no scope, so accepting it moves no reservation"
    yield from remarks(sent.findings)


@derive("event.handoff", events.send_handoff, _TO + _HANDOFF, group=event)
def send_handoff(sent: events.SentEvent) -> Iterable[str]:
    """Pass work on. Once accepted, the scope you hold moves to the receiver.

    Examples:
      moot event handoff --from amber-otter --to teal-crane --scope src/auth \\
        --subject "auth cache" --summary "half done" --next-action "finish the tests"
    """
    return _sent_lines(sent)


@derive("event.blocked", events.send_blocked, _TO + _BLOCKED, group=event)
def send_blocked(sent: events.SentEvent) -> Iterable[str]:
    """Say that you cannot continue, why, and what you need from whom.

    Examples:
      moot event blocked --to teal-crane --subject "schema" --blocker "no migration" \\
        --requested-action "write it" --urgency high
    """
    return _sent_lines(sent)


@derive("handoff", events.handoff, f"TO{_HANDOFF}")
def handoff(sent: events.SentNotice) -> Iterable[str]:
    """Pass your work on to TO. Once accepted, the scope you hold moves to TO.

    Examples:
      moot handoff teal-crane --subject "auth cache" --summary "half done" \\
        --next-action "finish the tests" --scope src/auth
    """
    return _sent_lines(sent)


@derive("blocked", events.blocked, f"TO{_BLOCKED}")
def blocked(sent: events.SentNotice) -> Iterable[str]:
    """Tell TO that you cannot continue, why, and what you need.

    Examples:
      moot blocked teal-crane --subject "schema" --blocker "no migration" \\
        --requested-action "write it"
    """
    return _sent_lines(sent)


@derive("event.list", events.list_events, """
    --work, --bead ID  Only events of this work item.
    --limit 1..1000    Show at most this many, the newest.
""", group=event)  # fmt: skip
def list_events(conversation: events.Conversation) -> Iterable[str]:
    """List the events between agents: handoffs, requests, overlaps, resumed work.

    Examples:
      moot event list
      moot event list --bead T-7 --json
    """
    rows = conversation.events
    if not rows:
        return ["no events yet"]
    where = {row.id: f"{row.scope}: " for row in rows if row.kind == "INCURSION"}
    cells = [
        (row.at, row.id, row.from_agent or "-", row.label, row.to_agent or "-", about)
        for row in rows
        for about in (visible(f"{where.get(row.id, '')}{row.title}{row.mark}"),)
    ]
    return listing(cells, ("AT", "ID", "WHO", "WHAT", "WHOM", "ABOUT"))


def _answer_lines(answer: events.EventReceipt, status: str) -> Iterator[str]:
    yield f"{answer.event.id}: {status} by {answer.agent}"
    yield from (f"{answer.agent} holds {scope} now" for scope in answer.moved)
    yield from remarks(answer.findings)


@derive("event.seen", events.mark_seen, """
    ID = event_id
    --agent NAME  Who acts (default: --as or MOOT_AGENT).
""", group=event)  # fmt: skip
def seen(answer: events.EventReceipt) -> Iterable[str]:
    """Say that you have read an event.

    Examples:
      moot event seen proto_20260214_001
    """
    return _answer_lines(answer, "Seen")


@derive("event.accept", events.accept, """
    ID = event_id
    --agent NAME  Who acts (default: --as or MOOT_AGENT).
    --notes TEXT  A text for the sender.
""", group=event)  # fmt: skip
def accept(answer: events.EventReceipt) -> Iterable[str]:
    """Take on what was passed to you; the sender's scope becomes yours.

    Moot also acknowledges the message about it, with the text of --notes.

    Examples:
      moot event accept proto_20260214_001 --agent teal-crane
      moot event accept proto_20260214_001 --notes "done by noon"
    """
    return _answer_lines(answer, "Accepted")


@derive("event.withdraw", events.withdraw, """
    ID = event_id
    --reason TEXT    Why.
    --evidence TEXT  What shows that an overlap is false.
    --agent NAME     Who acts (default: --as or MOOT_AGENT).
""", group=event)  # fmt: skip
def withdraw(done: events.WithdrawnEvent) -> Iterator[str]:
    """Take back a request that waits, or mark an overlap as false; it stays on record, marked.

    The sender withdraws a handoff or a request. The agent that holds the file withdraws an overlap,
    never the agent that the entry accuses. As a person with your own key you may withdraw both.

    Examples:
      moot event withdraw proto_20260214_002 --reason "I found another way" --agent amber-otter
      moot event withdraw proto_20260214_001 --reason "I changed it myself" --agent teal-crane
    """
    yield visible(f"{done.event.id}: {done.withdrawn}")
    yield from remarks(done.findings)


@command(None, "plan", "plan")
@click.argument("work")
@click.option("--amend", "text", metavar="FILE|-", help="Replace the plan by this text.")
@click.option(
    "--version", type=click.IntRange(0), metavar="N", help="The version that you read; 0: none yet."
)
def plan(shell: Shell, work: str, text: str | None, version: int | None) -> Answer:
    """Show or amend the plan of WORK: one page that its agents share.

    Amend the version that you read; if it changed since, Moot refuses: read it again. Tasks
    are shown from `bd` where there are beads, and never kept here.

    Examples:
      moot plan T-7
      moot plan T-7 --amend plan.md --version 2
      echo "1. move the cache" | moot plan T-7 --amend - --version 0
    """
    if text is None:
        if version is not None:
            raise click.UsageError("--version belongs to --amend FILE")
        page = plans.show(shell.session, work)
    else:
        if version is None:
            raise click.UsageError("say which --version you read; 0 if there was none")
        page = plans.amend(shell.session, work, document(text), version)
    return Answer(page, lambda: _plan_lines(page))


def _plan_lines(page: plans.PlanPage) -> Iterable[str]:
    shown = page.plan
    if not shown.version:
        yield f"no plan of {shown.work} yet: `moot plan {shown.work} --amend FILE --version 0`"
    else:
        yield f"version {shown.version}, by {shown.by} at {shown.at}"
        yield from map(visible, shown.text.rstrip("\n").split("\n"))
    if page.tasks:
        rows = [(task.id, task.status, task.owner or "-") for task in page.tasks]
        yield ""
        yield from listing(rows, ("ID", "STATUS", "OWNER"))
