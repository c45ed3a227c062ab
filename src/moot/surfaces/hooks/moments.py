"""The moments at which a coding tool calls: each asks the library and puts its answer into words.

Only an edit can be stopped, and a change of settings that would take our hooks out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from moot.core.quoted import OwnText, join, one_line, say
from moot.flows.tools.coding_tools import HookMoment
from moot.surfaces.hooks import answers
from moot.surfaces.hooks.announced import announce, find_overwritten
from moot.surfaces.hooks.call import HookCall
from moot.surfaces.hooks.touched import files_read, shell_folder, shell_text, touched

if TYPE_CHECKING:
    from moot.api.guard.waiting import Waiting
    from moot.api.session import Session
    from moot.flows.guard.unmerged import UnmergedChange

SHOWN_INCURSIONS: Final = 3
# What Claude Code calls a change of files in which hooks of ours may be.
SETTINGS_SOURCES: Final = frozenset({"user_settings", "project_settings", "local_settings"})
# How a session starts together with its tool, so that nothing of before is still running in it.
NEW_PROCESS: Final = frozenset({"startup", "resume"})


def before(call: HookCall, session: Session) -> str:
    """Nothing, or the reason why not."""
    text = shell_text(call)
    if text is not None:
        from moot.api.guard import commands

        folder = shell_folder(call)
        held_back = commands.before_command(session, call.call_id, text, folder, tool=call.name)
        if not held_back.allowed:
            from moot.surfaces.hooks.command_reasons import explain_destruction

            moot = answers.moot_command(call.tool, session, held_back.agent or "NAME")
            return _block(call, session, explain_destruction(held_back, moot))
    paths = touched(call)
    if not paths:
        return answers.ALLOW
    from moot.api.guard import edits

    verdict = edits.before_edit(
        session,
        paths,
        whole=find_overwritten(call, paths),
        call_id=call.call_id,
        tool=call.name,
        announced=announce(call, paths),
        tells_unmerged=call.tool.tells_before,
        tells_end=text is None,  # Codex applies such a patch itself, and tells no end of it
    )
    if verdict.allowed and verdict.unmerged:
        return answers.context(call.tool, HookMoment.BEFORE, _unmerged_line(verdict.unmerged))
    if verdict.allowed or verdict.agent is None:
        return answers.ALLOW
    from moot.api.guard.offered_tools import find_tool_names
    from moot.surfaces.hooks.reasons import explain_held, explain_unseen

    if verdict.unseen:
        return _block(call, session, explain_unseen(verdict.unseen))
    moot = answers.moot_command(call.tool, session, verdict.agent)
    tool_name = find_tool_names(call.tool.name, session)
    return _block(call, session, explain_held(verdict.holders, verdict.agent, moot, tool_name))


def after(call: HookCall, session: Session) -> str:
    """What slipped past the guard, and what waits; nothing can be stopped any more."""
    if call.is_reading:
        told = _held_line(call, session, files_read(call)), _waiting_now(call, session)
        return answers.context(call.tool, HookMoment.AFTER, join("\n", told))
    from moot.api.guard import tool_sessions

    command = shell_text(call)
    ended = tool_sessions.after_call(
        session,
        tool_sessions.ToolCall(
            tool=call.name,
            paths=touched(call) if command is None else (),
            command=command,
            folder=shell_folder(call),
            id=call.call_id,
            duration_ms=call.duration_ms,
            input=call.input,
            response=call.response,
            ok=call.ok,
            tells_unmerged=not call.tool.tells_before,
            model=call.model,
        ),
    )
    if ended is None:
        return answers.ALLOW
    lines = list[OwnText]()
    if ended.incursions:
        noted = [one_line(finding.message) for finding in ended.incursions[:SHOWN_INCURSIONS]]
        lines.append(
            say(
                "moot: this changed what others hold, and that is on record: {noted}."
                " Tell the holder.",
                noted=join("; ", noted),
            )
        )
    if ended.unmerged:
        lines.append(_unmerged_line(ended.unmerged))
    if command is not None:
        lines.append(_printed_line(call, session, command))
    if ended.waiting:
        lines.append(_waiting_line(call, session, ended.agent, ended.waiting))
    return answers.context(call.tool, HookMoment.AFTER, join("\n", lines))


def start(call: HookCall, session: Session) -> str:
    """The rules, who else is here, and what waits."""
    from moot.api.guard import tool_sessions
    from moot.api.guard.offered_tools import find_tool_names
    from moot.surfaces.hooks.briefing import briefing
    from moot.system.tool_process import find_tool_process

    process = None if session.acting else find_tool_process()
    begins = call.source in NEW_PROCESS
    started = tool_sessions.start_session(session, begins=begins, process=process)
    if started is None:
        return answers.ALLOW
    tool_name = find_tool_names(call.tool.name, session)
    text = briefing(started, answers.moot_command(call.tool, session, started.agent), tool_name)
    return answers.context(call.tool, HookMoment.START, text)


def stop(call: HookCall, session: Session) -> str:
    """If something unread waits, the model goes on once to read it, and is told whether tests ran
    after its last edit; if nothing waits, its person is.

    At most once: a tool says when a hook has already made the model go on, and one that did not say
    so could be kept going for ever.
    """
    from moot.api.guard import tool_sessions

    may_go_on = bool(call.tool.go_on) and not call.going_on
    stopping = tool_sessions.wants_to_stop(session, take=may_go_on)
    if stopping is None:
        return answers.ALLOW
    tests = say("moot: {tests}", tests=one_line(stopping.tests)) if stopping.tests else OwnText()
    if not stopping.waiting:
        return answers.tell_person(call.tool, tests)
    line = _waiting_line(call, session, stopping.agent, stopping.waiting)
    return answers.go_on(call.tool, join("\n", (line, tests)))


def end(call: HookCall, session: Session) -> str:
    from moot.api.guard import tool_sessions

    tool_sessions.end_session(session, reason=f"{call.tool.name} session ended")
    return answers.ALLOW


def sub_agent_end(call: HookCall, session: Session) -> str:
    """Only one that is named: a tool that forgot its id must not end all of them."""
    from moot.api.guard import sub_agents

    if call.sub_agent:
        sub_agents.end_sub_agent(session, reason="it was done")
    return answers.ALLOW


def asks_person(call: HookCall, session: Session) -> str:
    """The tool waits for its person: their own program tells them, if they have one."""
    from moot.api.guard import person_waiting

    if "permission" in call.message:
        person_waiting.tell_permission(session, call.tool.name, call.message)
    return answers.ALLOW


def config_change(call: HookCall, session: Session) -> str:
    """Why the tool is to keep the hooks it has: its settings have lost ours. Nothing for every
    other change, and where a person took them out."""
    from moot.api.tool_checks import has_lost_hooks

    if call.source not in SETTINGS_SOURCES or not has_lost_hooks(session, call.tool.name):
        return answers.ALLOW
    return (
        f"moot: the settings of {call.tool.name} no longer hold the hooks of Moot, so this session"
        f" keeps those it has. To put them back: `moot hook install {call.tool.name}`; a person"
        f" takes them out with `moot hook uninstall {call.tool.name}`."
    )


def _held_line(call: HookCall, session: Session, files: Sequence[str]) -> OwnText:
    """Who holds what was read, if anybody else does and that was not told yet."""
    if not files:
        return OwnText()
    from moot.api.guard import reading

    read = reading.after_read(session, files)
    if not read.holders or read.agent is None:
        return OwnText()
    from moot.api.guard.offered_tools import find_tool_names
    from moot.surfaces.hooks.reasons import explain_read

    moot = answers.moot_command(call.tool, session, read.agent)
    tool_name = find_tool_names(call.tool.name, session)
    return explain_read(read.holders, moot, tool_name)


def _printed_line(call: HookCall, session: Session, command: str) -> OwnText:
    """The same for files that a shell command printed; trouble with it hides nothing else."""
    from moot.core.errors import MootError
    from moot.flows.guard.stale_reads import find_printed

    try:
        return _held_line(call, session, find_printed(command, shell_folder(call)))
    except MootError:
        return OwnText()


def _unmerged_line(changes: Sequence[UnmergedChange]) -> OwnText:
    from moot.flows.guard.unmerged import explain_unmerged

    return say(
        "moot: {changes} The edit is allowed; mind it, or merge that first.",
        changes=one_line(explain_unmerged(changes)),
    )


def _block(call: HookCall, session: Session, reason: OwnText) -> str:
    """Say no; whoever is refused sees in the same answer what waits for it."""
    return answers.block(join("\n", (reason, _waiting_now(call, session))))


def _waiting_now(call: HookCall, session: Session) -> OwnText:
    """What waits; trouble with it hides nothing else."""
    from moot.api.guard import tool_sessions
    from moot.core.errors import MootError

    try:
        taken = tool_sessions.take_what_waits(session)
    except MootError:
        return OwnText()
    if taken is None or not taken.waiting:
        return OwnText()
    return _waiting_line(call, session, taken.agent, taken.waiting)


def _waiting_line(call: HookCall, session: Session, agent: str, waiting: Waiting) -> OwnText:
    from moot.api.guard.offered_tools import find_tool_names
    from moot.surfaces.hooks.waiting import waiting_line

    moot = answers.moot_command(call.tool, session, agent)
    return waiting_line(waiting, agent, moot, find_tool_names(call.tool.name, session))


HANDLERS: Final[Mapping[HookMoment, Callable[[HookCall, Session], str]]] = {
    HookMoment.BEFORE: before,
    HookMoment.AFTER: after,
    HookMoment.START: start,
    HookMoment.STOP: stop,
    HookMoment.END: end,
    HookMoment.SUB_AGENT_END: sub_agent_end,
    HookMoment.ASKS_PERSON: asks_person,
    HookMoment.CONFIG_CHANGE: config_change,
}
