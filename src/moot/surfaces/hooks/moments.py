"""Answer each moment at which a coding tool calls: ask the library, and build the text.

Only an edit, a shell command, and a change of settings that would remove our hooks can be stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from moot.coding_tools.tool import ALLOW, CodingTool, HookMoment, block
from moot.core.errors import MootError
from moot.core.text import OwnText, join, one_line, say
from moot.surfaces.hooks.call import HookCall
from moot.surfaces.hooks.written_files import (
    find_overwritten,
    find_read_files,
    find_written_files,
    read_announced,
    shell_folder,
    shell_text,
)

if TYPE_CHECKING:
    from moot.api.guard.notices import Waiting
    from moot.api.guard.unmerged import UnmergedChange
    from moot.api.session import Session

SHOWN_INCURSIONS: Final = 3
# Sources of a session start at which the tool's process is new, so that no earlier call still runs.
NEW_PROCESS: Final = frozenset({"startup", "resume"})


def before(call: HookCall, session: Session) -> str:
    """Refuse a shell command or an edit; empty if it is allowed."""
    text = shell_text(call)
    if text is not None:
        from moot.api.guard import commands

        folder = shell_folder(call)
        verdict = commands.before_command(session, call.call_id, text, folder, tool=call.name)
        if not verdict.allowed:
            from moot.surfaces.hooks.reasons import explain_destruction

            moot = _moot_command(call.tool, session, verdict.agent or "NAME")
            return _block(call, session, explain_destruction(verdict, moot))
    paths = find_written_files(call)
    if not paths:
        return ALLOW
    from moot.api.guard import edits

    edit = edits.before_edit(
        session,
        paths,
        whole=find_overwritten(call, paths),
        call_id=call.call_id,
        tool=call.name,
        announced=read_announced(call, paths),
        tells_unmerged=call.tool.tells_before,
        tells_end=text is None,  # Codex reports no end of a patch in a shell command
    )
    if edit.allowed and edit.unmerged:
        return call.tool.tell_model(HookMoment.BEFORE, _unmerged_line(edit.unmerged))
    if edit.allowed or edit.agent is None:
        return ALLOW
    from moot.api.guard.notices import find_tool_names
    from moot.surfaces.hooks.reasons import explain_held, explain_lines, explain_unseen

    if edit.unseen:
        return _block(call, session, explain_unseen(edit.unseen))
    moot = _moot_command(call.tool, session, edit.agent)
    if edit.lines:
        return _block(call, session, explain_lines(edit.lines, edit.agent, moot))
    tool_name = find_tool_names(call.tool.name, session)
    return _block(call, session, explain_held(edit.holders, edit.agent, moot, tool_name))


def after(call: HookCall, session: Session) -> str:
    """Tell the model which changes the guard could not prevent, and what waits for it."""
    if call.is_reading:
        notices = _held_line(call, session, find_read_files(call)), _waiting_now(call, session)
        return call.tool.tell_model(HookMoment.AFTER, join("\n", notices))
    from moot.api.guard import tool_sessions

    command = shell_text(call)
    ended = tool_sessions.after_call(
        session,
        tool_sessions.ToolCall(
            tool=call.name,
            paths=find_written_files(call) if command is None else (),
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
        return ALLOW
    lines = list[OwnText]()
    if ended.incursions:
        noted = [one_line(finding.message) for finding in ended.incursions[:SHOWN_INCURSIONS]]
        lines.append(
            say(
                "moot: this changed files that others hold; it is on record: {noted}."
                " Tell the holder.",
                noted=join("; ", noted),
            )
        )
    if ended.shared:
        from moot.surfaces.hooks.reasons import explain_shared

        lines.append(explain_shared(ended.shared))
    if ended.unmerged:
        lines.append(_unmerged_line(ended.unmerged))
    if command is not None:
        lines.append(_printed_line(call, session, command))
    if ended.waiting:
        lines.append(_waiting_line(call, session, ended.agent, ended.waiting))
    return call.tool.tell_model(HookMoment.AFTER, join("\n", lines))


def start(call: HookCall, session: Session) -> str:
    """Tell the model the rules, who else is here, and what waits."""
    from moot.api.guard import tool_sessions
    from moot.api.guard.notices import find_tool_names
    from moot.surfaces.hooks.briefing import briefing
    from moot.system.process_tree import find_tool_process

    process = None if session.acting else find_tool_process()
    begins = call.source in NEW_PROCESS
    started = tool_sessions.start_session(session, begins=begins, process=process)
    if started is None:
        return ALLOW
    tool_name = find_tool_names(call.tool.name, session)
    text = briefing(started, _moot_command(call.tool, session, started.agent), tool_name)
    return call.tool.tell_model(HookMoment.START, text)


def stop(call: HookCall, session: Session) -> str:
    """Let the model continue once if something unread waits; else tell the person whether tests
    ran.

    The tool reports if a hook has already made the model continue; without that check it could
    continue for ever.
    """
    from moot.api.guard import tool_sessions

    may_go_on = bool(call.tool.go_on) and not call.going_on
    stopping = tool_sessions.wants_to_stop(session, take=may_go_on)
    if stopping is None:
        return ALLOW
    tests = say("moot: {tests}", tests=one_line(stopping.tests)) if stopping.tests else OwnText()
    if not stopping.waiting:
        return call.tool.tell_person(tests)
    line = _waiting_line(call, session, stopping.agent, stopping.waiting)
    return call.tool.let_go_on(join("\n", (line, tests)))


def end(call: HookCall, session: Session) -> str:
    from moot.api.guard import tool_sessions

    tool_sessions.end_session(session, reason=f"{call.tool.name} session ended")
    return ALLOW


def sub_agent_end(call: HookCall, session: Session) -> str:
    """End the sub-agent that the call names. A call without an id must not end all of them."""
    from moot.api.guard import sub_agents

    if call.sub_agent:
        sub_agents.end_sub_agent(session, reason="it was done")
    return ALLOW


def asks_person(call: HookCall, session: Session) -> str:
    """Run the user's notification program, if there is one: the tool waits for a permission."""
    from moot.api.guard import person_notices

    if "permission" in call.message:
        person_notices.tell_permission(session, call.tool.name, call.message)
    return ALLOW


def config_change(call: HookCall, session: Session) -> str:
    """Refuse a change of settings that removed our hooks, unless a person uninstalled them."""
    from moot.api.hook_setup.tool_checks import has_lost_hooks

    if call.source not in call.tool.settings_sources or not has_lost_hooks(session, call.tool.name):
        return ALLOW
    return (
        f"moot: the settings of {call.tool.name} no longer contain the hooks of Moot, so this"
        f" session keeps those it has. To restore them: `moot hook install {call.tool.name}`; a"
        f" person removes them with `moot hook uninstall {call.tool.name}`."
    )


def _held_line(call: HookCall, session: Session, files: Sequence[str]) -> OwnText:
    """Tell who else holds the files that were read, unless the session already knows."""
    if not files:
        return OwnText()
    from moot.api.guard import reading

    read = reading.after_read(session, files)
    if not (read.holders or read.lines) or read.agent is None:
        return OwnText()
    from moot.api.guard.notices import find_tool_names
    from moot.surfaces.hooks.reasons import explain_read, explain_read_lines

    lines = explain_read_lines(read.lines) if read.lines else OwnText()
    if not read.holders:
        return lines
    moot = _moot_command(call.tool, session, read.agent)
    tool_name = find_tool_names(call.tool.name, session)
    return join("\n", (explain_read(read.holders, moot, tool_name), lines))


def _printed_line(call: HookCall, session: Session, command: str) -> OwnText:
    """Return the same notice for files that a shell command printed. Errors must not hide other
    notices."""
    from moot.api.guard.stale_reads import find_printed

    try:
        return _held_line(call, session, find_printed(command, shell_folder(call)))
    except MootError:
        return OwnText()


def _unmerged_line(changes: Sequence[UnmergedChange]) -> OwnText:
    from moot.api.guard.unmerged import explain_unmerged

    return say(
        "moot: {changes} The edit is allowed; take this into account, or merge that first.",
        changes=one_line(explain_unmerged(changes)),
    )


def _block(call: HookCall, session: Session, reason: OwnText) -> str:
    """Refuse, and add what waits for the agent to the same answer."""
    return block(join("\n", (reason, _waiting_now(call, session))))


def _waiting_now(call: HookCall, session: Session) -> OwnText:
    """Return what waits for the agent. Errors must not hide other notices."""
    from moot.api.guard import tool_sessions

    try:
        taken = tool_sessions.take_what_waits(session)
    except MootError:
        return OwnText()
    if taken is None or not taken.waiting:
        return OwnText()
    return _waiting_line(call, session, taken.agent, taken.waiting)


def _waiting_line(call: HookCall, session: Session, agent: str, waiting: Waiting) -> OwnText:
    from moot.api.guard.notices import find_tool_names
    from moot.surfaces.hooks.briefing import waiting_line

    moot = _moot_command(call.tool, session, agent)
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


def _moot_command(tool: CodingTool, session: Session, agent: str) -> OwnText:
    """Return how the agent calls us: with `--as` unless its environment names it.

    The full path is used where the agent's shell might not find `moot`.
    """
    is_found = not tool.login_shell and _is_on_path(session.env.get("PATH", ""))
    moot = "moot" if is_found else _full_command()
    return OwnText(moot if session.acting else f"{moot} --as {agent}")


def _is_on_path(search_path: str) -> bool:
    folders = filter(None, search_path.split(os.pathsep))
    return any(os.access(os.path.join(folder, "moot"), os.X_OK) for folder in folders)


def _full_command() -> str:
    import shlex

    from moot.coding_tools.hook_command import moot_words

    return shlex.join(moot_words())
