"""What a session is told at its start: the rules, and who else is here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from moot.core.plural import plural
from moot.surfaces.hooks.waiting import quoted, waiting_line

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


def briefing(started: StartedSession, moot: str, tool_name: ToolName | None = None) -> str:
    """`moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server."""
    rules = RULES.format(me=started.agent)
    if tool_name is None:
        rules += IN_SHELL.format(me=started.agent, moot=moot)
    else:
        names = {name: tool_name(name) for name in ("scope", "now", "event")}
        rules += BY_TOOL.format(moot=moot, **names)
    lines = [rules, *_others(started.others)]
    if started.plan is not None:
        lines.append(_plan_lines(started.plan, moot))
    if started.decisions:
        lines += ["Decided before about what is changed or held here:"]
        lines += [_decision_line(each, moot) for each in started.decisions]
    if started.waiting:
        lines.append(waiting_line(started.waiting, started.agent, moot, tool_name))
    return "\n".join(lines)


def _plan_lines(plan: SharedPlan, moot: str) -> str:
    """The page as its agents wrote it: quoted, so that it is not taken for a word of ours."""
    text = plan.text if len(plan.text) <= MOST_OF_PLAN else f"{plan.text[:MOST_OF_PLAN]}…"
    quoted = "\n".join(f"> {line}" for line in text.rstrip("\n").split("\n"))
    amend = f"`{moot} plan {plan.work} --amend FILE --version {plan.version}`"
    head = f"Shared plan of {plan.work}, version {plan.version} by {plan.by} (amend it: {amend}):"
    return f"{head}\n{quoted}"


def _decision_line(decision: EarlierDecision, moot: str) -> str:
    """What others wrote is quoted, and cut."""
    answer = f": {quoted(decision.answer)}" if decision.answer else ""
    names = ", ".join(decision.names[:NAMES_SHOWN])
    question = quoted(decision.question)
    look = f"`{moot} report {decision.id}`"
    return f"- {names}: {question} was {decision.outcome}{answer} ({look})"


def _others(others: tuple[OtherAgent, ...]) -> Iterator[str]:
    yield "Here now:" if others else "Nobody else is here now."
    yield from map(_line, others[:SHOWN])
    if len(others) > SHOWN:
        yield f"- and {len(others) - SHOWN} more"


def _line(other: OtherAgent) -> str:
    work = f", on {other.work or other.branch}" if other.work or other.branch else ""
    more = len(other.holds) - SCOPES_SHOWN
    tail = f" and {more} more" if more > 0 else ""
    held = f", holds {', '.join(other.holds[:SCOPES_SHOWN])}{tail}" if other.holds else ""
    return f"- {other.agent} ({other.label.lower()}{work}){held}{_sub_agents(other)}"


def _sub_agents(other: OtherAgent) -> str:
    count = len(other.sub_agents)
    if not count:
        return ""
    return f", with {plural(count, 'sub-agent')} at work ({', '.join(other.sub_agents[:SHOWN])})"
