"""What a session is told at its start: the rules, and who else is here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from moot.core.plural import plural
from moot.core.quoted import OwnText, join, quote, quote_lines, quote_names, say, shell_word
from moot.surfaces.hooks.waiting import waiting_line

if TYPE_CHECKING:
    from moot.api.guard.offered_tools import ToolName
    from moot.api.guard.tool_sessions import (
        EarlierDecision,
        OtherAgent,
        SharedPlan,
        StartedSession,
    )

SHOWN: Final = 20
SCOPES_SHOWN: Final = 6
NAMES_SHOWN: Final = 3
MOST_OF_PLAN: Final = 1_500

RULES: Final = """\
You are {me} here; other agents work in this repository too, and moot keeps you off each other's \
files.
- Before each edit the file is checked and, if it is free, reserved for you. Nothing to do.
- If another agent holds it, the edit is refused with the reason. Do not write it by another way \
(shell, copy, git): work elsewhere, ask the holder, or wait.
- Your sub-agents are agents of their own: what one of them edits is held against the others and \
you until it ends.
"""
IN_SHELL: Final = """\
- Reserve more than single files at once: `{moot} reserve SCOPE` (a folder: `src/auth/*`); give \
back early: `{moot} release SCOPE`.
- Who is here and what waits for you: `{moot} status`. Accept what was passed to you: \
`{moot} event accept ID --agent {me}`."""
BY_TOOL: Final = """\
- Reserve more than single files at once: `{scope}` with action reserve (a folder: `src/auth/*`); \
give back early: action release.
- Who is here and what waits for you: `{now}`. Accept what was passed to you: `{event}` with \
action accept. If you are offered none of these tools: `{moot} --help` in your shell."""


def briefing(started: StartedSession, moot: OwnText, tool_name: ToolName | None = None) -> OwnText:
    """`moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server."""
    if tool_name is None:
        rules = say(RULES + IN_SHELL, me=started.agent, moot=moot)
    else:
        names = {name: OwnText(tool_name(name)) for name in ("scope", "now", "event")}
        rules = say(RULES + BY_TOOL, me=started.agent, moot=moot, **names)
    lines = [rules, *_others(started.others)]
    if started.plan is not None:
        lines.append(_plan_lines(started.plan, moot))
    if started.decisions:
        lines += [OwnText("Decided before about what is changed or held here:")]
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
    yield from map(_line, others[:SHOWN])
    if len(others) > SHOWN:
        yield say("- and {more} more", more=len(others) - SHOWN)


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
    names = quote_names(other.sub_agents[:SHOWN])
    many = OwnText(plural(count, "sub-agent"))
    return say(", with {many} at work ({names})", many=many, names=names)
