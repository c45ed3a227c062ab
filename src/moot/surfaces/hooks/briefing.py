"""Build the text that a session reads at its start: the rules, who else is here, and what waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from moot.core.text import (
    MOST_CHARACTERS,
    OwnText,
    join,
    plural,
    quote,
    quote_lines,
    quote_names,
    say,
    shell_word,
)
from moot.surfaces.hooks.reasons import as_arguments

if TYPE_CHECKING:
    from moot.api.guard.notices import SettledRequest, ToolName, Waiting, WaitingEvent, WaitingMail
    from moot.api.guard.tool_sessions import EarlierDecision, OtherAgent, SharedPlan, StartedSession


# What waits for an agent, and the outcome of its own requests, one line each.

SHOWN: Final = 3
_MOST_OF_PATH: Final = 500
_VERBS: Final = {"HANDOFF": "passed to you by", "BLOCKED": "your input is needed by"}


def waiting_line(
    waiting: Waiting, agent: str, moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """Return what waits for the agent and the outcome of its requests; at least one must exist.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls the tools of our MCP
    server.
    """
    events, mail = waiting.events, waiting.mail
    parts = [_event(event, agent, moot, tool_name) for event in events[:SHOWN]]
    if len(events) > SHOWN:
        look = say("{moot} status", moot=moot) if tool_name is None else OwnText(tool_name("now"))
        parts.append(say("and {more} more: `{look}`", more=len(events) - SHOWN, look=look))
    if mail is not None:
        parts.append(mail_part(mail, moot, tool_name))
    lines = [_settled(each) for each in waiting.settled[:SHOWN]]
    if len(waiting.settled) > SHOWN:
        more = len(waiting.settled) - SHOWN
        lines.append(say("moot: {more} more of your requests are settled.", more=more))
    if parts:
        lines.append(say("moot: waiting for you: {parts}", parts=join("; ", parts)))
    return join("\n", lines)


def mail_part(mail: WaitingMail, moot: OwnText, tool_name: ToolName | None = None) -> OwnText:
    many = "a message" if mail.count == 1 else f"{mail.count} messages, the newest"
    sender = mail.sender if mail.proved else quote(mail.sender)
    read = f"{moot} inbox" if tool_name is None else f'{tool_name("mail")} {{"action":"inbox"}}'
    return say(
        "{many} from {sender}: {subject} (`{read}`)",
        many=OwnText(many),
        sender=sender,
        subject=_quote(mail.subject, _read_command(mail.newest, moot, tool_name)),
        read=OwnText(read),
    )


def _settled(request: SettledRequest) -> OwnText:
    """Tell that a scope the agent asked for is free, or that its next holder was asked."""
    words = {"asked": request.asked, "id": request.id, "holder": request.holder or ""}
    words |= {"scope": quote(request.scope, _MOST_OF_PATH), "sent": request.sent or ""}
    if request.holder is None:
        template = (
            "moot: free now: {scope}; you had asked {asked} for it ({id}). Your next edit of it"
            " reserves it."
        )
    else:
        template = "moot: {scope} is held by {holder} now; you had asked {asked} for it ({id}). "
        if request.sent is None:
            template += "{holder} was not asked."
        else:
            template += "Moot sent {holder} the same request for you ({sent})."
    return say(template, **words)


def _event(event: WaitingEvent, agent: str, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    is_answered = event.event_type == "BLOCKED"  # a handoff needs no answer
    accept = say("{moot} event accept {id} --agent {agent}", moot=moot, id=event.id, agent=agent)
    if tool_name is not None:
        notes = ',"summary":"ANSWER"' if is_answered else ""
        accept = OwnText(f'{tool_name("event")} {{"action":"accept","id":"{event.id}"{notes}}}')
    elif is_answered:
        accept = OwnText(f"{accept} --notes ANSWER")
    more, asks, about = _read_command(event.message, moot, tool_name), OwnText(), OwnText()
    if event.asks:
        asks = say(", asked: {asks}", asks=_quote(event.asks, more))
    if event.scope and event.scope != event.subject:
        about = say(" about {scope}", scope=quote(event.scope, _MOST_OF_PATH))
    return say(
        "{id} {verb} {sender}: {subject}{about}{asks} (`{accept}`{giving})",
        id=event.id,
        verb=OwnText(_VERBS.get(event.event_type, "from")),
        sender=event.from_agent or OwnText("someone unknown"),
        subject=_quote(event.subject, more),
        about=about,
        asks=asks,
        accept=accept,
        giving=_release_command(event, moot, tool_name),
    )


def _quote(text: str, more: OwnText) -> OwnText:
    """Quote the text; if it is too long for one line, add the command that shows the rest."""
    shown = quote(text)
    if not more or len(" ".join(text.split())) <= MOST_CHARACTERS:
        return shown
    return say("{shown} (all of it: `{more}`)", shown=shown, more=more)


def _read_command(message: str | None, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    if not message:
        return OwnText()
    if tool_name is None:
        return say("{moot} mail show {message}", moot=moot, message=shell_word(message, "ID"))
    return OwnText(f"{tool_name('mail')} {as_arguments({'action': 'show', 'id': message})}")


def _release_command(event: WaitingEvent, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    """Return the command that releases what a BLOCKED asks for."""
    if not event.held:
        return OwnText()
    if tool_name is None:
        release = say("{moot} release {held}", moot=moot, held=event.typed_held)
    else:
        asked = {"action": "release", "paths": [event.held]}
        release = OwnText(f"{tool_name('scope')} {as_arguments(asked)}")
    return say("; when you no longer need it: `{release}`", release=release)


SHOWN_AGENTS: Final = 20
SCOPES_SHOWN: Final = 6
NAMES_SHOWN: Final = 3
MOST_OF_PLAN: Final = 1_500

RULES: Final = """\
You are {me} here. Other agents work in this repository too; moot keeps agents from overwriting \
each other's files.
- Before each edit moot checks the file and, if it is free, reserves it for you. You need not do \
anything.
- If another agent holds the file, moot refuses the edit and says why. Do not work around this, \
for example with a shell command, a copy or git: work on another file, ask the holder, or wait.
- Each of your sub-agents is an agent too: the files it edits are closed to the others and to you \
until it ends.
"""
IN_SHELL: Final = """\
- Reserve a folder or several files: `{moot} reserve SCOPE` (a folder: `src/auth/*`). Release \
early: `{moot} release SCOPE`.
- Who is here and what waits for you: `{moot} status`. Accept what was passed to you: \
`{moot} event accept ID --agent {me}`."""
BY_TOOL: Final = """\
- Reserve a folder or several files: `{scope}` with action reserve (a folder: `src/auth/*`). \
Release early: action release.
- Who is here and what waits for you: `{now}`. Accept what was passed to you: `{event}` with \
action accept. If you do not have these tools: `{moot} --help` in your shell."""


def briefing(started: StartedSession, moot: OwnText, tool_name: ToolName | None = None) -> OwnText:
    """Return the whole text for a session that starts.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls the tools of our MCP
    server.
    """
    if tool_name is None:
        rules = say(RULES + IN_SHELL, me=started.agent, moot=moot)
    else:
        names = {name: OwnText(tool_name(name)) for name in ("scope", "now", "event")}
        rules = say(RULES + BY_TOOL, me=started.agent, moot=moot, **names)
    lines = [rules, *_others(started.others)]
    if started.plan is not None:
        lines.append(_plan_lines(started.plan, moot))
    if started.decisions:
        lines += [OwnText("Earlier decisions about files that are changed or held here:")]
        lines += [_decision_line(each, moot) for each in started.decisions]
    if started.waiting:
        lines.append(waiting_line(started.waiting, started.agent, moot, tool_name))
    return join("\n", lines)


def _plan_lines(plan: SharedPlan, moot: OwnText) -> OwnText:
    text = plan.text if len(plan.text) <= MOST_OF_PLAN else f"{plan.text[:MOST_OF_PLAN]}…"
    return say(
        "Shared plan of {work}, version {version} by {by}"
        " (amend it: `{moot} plan {typed} --amend FILE --version {version}`):\n{text}",
        work=plan.work,
        typed=shell_word(plan.work, "WORK"),
        version=plan.version,
        by=plan.by,
        moot=moot,
        text=quote_lines(text.rstrip("\n")),
    )


def _decision_line(decision: EarlierDecision, moot: OwnText) -> OwnText:
    return say(
        "- {names}: {question} was {outcome}{answer} (`{moot} report {id}`)",
        names=quote_names(decision.names[:NAMES_SHOWN]),
        question=quote(decision.question),
        outcome=OwnText(decision.outcome),
        answer=say(": {answer}", answer=quote(decision.answer)) if decision.answer else OwnText(),
        moot=moot,
        id=decision.id,
    )


def _others(others: tuple[OtherAgent, ...]) -> Iterator[OwnText]:
    yield OwnText("Here now:" if others else "Nobody else is here now.")
    yield from map(_line, others[:SHOWN_AGENTS])
    if len(others) > SHOWN_AGENTS:
        yield say("- and {more} more", more=len(others) - SHOWN_AGENTS)


def _line(other: OtherAgent) -> OwnText:
    work = other.work or other.branch
    return say(
        "- {agent} ({label}{work}){holds}{sub_agents}",
        agent=other.agent,
        label=OwnText(other.label.lower()),
        work=say(", on {work}", work=work) if work else OwnText(),
        holds=_holds(other.holds),
        sub_agents=_sub_agents(other),
    )


def _holds(scopes: Sequence[str]) -> OwnText:
    if not scopes:
        return OwnText()
    more = len(scopes) - SCOPES_SHOWN
    tail = say(" and {more} more", more=more) if more > 0 else OwnText()
    return say(", holds {scopes}{tail}", scopes=quote_names(scopes[:SCOPES_SHOWN]), tail=tail)


def _sub_agents(other: OtherAgent) -> OwnText:
    count = len(other.sub_agents)
    if not count:
        return OwnText()
    names = quote_names(other.sub_agents[:SHOWN_AGENTS])
    many = OwnText(plural(count, "sub-agent"))
    return say(", with {many} at work ({names})", many=many, names=names)
