"""Build the text of a refusal: who holds the file, how alive that agent is, and what to do
instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from moot.core.text import OwnText, join, one_line, quote_names, say, shell_word

if TYPE_CHECKING:
    from moot.api.guard.commands import CommandVerdict, EndangeredFiles
    from moot.api.guard.edits import UnseenChange
    from moot.api.guard.holders import Holder, LineConflict, LineNotice
    from moot.api.guard.notices import ToolName
    from moot.core.errors import MootError


SHOWN: Final = 4

_ASK: Final = (
    "{moot} event blocked --from {agent} --to {owner} --scope {typed} --subject {path}"
    " --blocker {blocker} --requested-action '{action}, or say when' --urgency medium"
)
# Advice by the holder's liveness, most alive first. `{ask}` and `{check}` are shell commands, or
# calls of our MCP tools.
_INSTEAD: Final[dict[str, str]] = {
    "active": "Work on another file, or ask for it: `{ask}`, or wait until `{check}` says yes.",
    "stale": "{owner} has not been active for a while. If you need it, take it over:"
    " `{moot} reserve {scope} --takeover-stale`; otherwise work on another file, or ask: `{ask}`.",
    "evicted": "{owner} is evicted. Take it over: `{moot} reserve {scope} --takeover-stale`.",
}
# A sub-agent and the agent that started it share a session, so they do not send each other mail: a
# sub-agent ends soon, and reports then.
_SIBLING: Final = (
    "{holder} belongs to your own session: do not send it a message. Work on another file until it"
    " ends, or leave this change out and say so when you are done."
)
_READ: Final = OwnText("You may read it; Moot refuses an edit until the holder releases it.")
_READ_INSTEAD: Final = (
    "If you want to change it, do something else first, or wait until `{check}` says yes."
)
_MOOT: Final = OwnText("moot:")
_DO_NOT_WORK_AROUND: Final = OwnText(
    "Nothing was written. Do not work around this, for example with a shell command."
)
_READ_AGAIN: Final = OwnText(
    "Nothing was written. Read it again, then repeat: what you write next will be written."
)
# Refusals that are the result of a check. Every other code means that the check itself failed.
_CHECKED: Final = frozenset({"not_for_agents", "other_root", "unmerged_changes"})


def explain_held(
    holders: Sequence[Holder], agent: str, moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """Explain why an edit was refused; the advice fits the most alive of the holders.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls the tools of our MCP
    server.
    """
    sentences = _sentences(holders)
    others = [holder for holder in holders if not holder.own_session]
    if not others:
        return _refusal(sentences, say(_SIBLING, holder=holders[0].holder))
    most_alive = min(others, key=lambda holder: list(_INSTEAD).index(holder.liveness))
    if most_alive.gone is not None:
        return _refusal(
            sentences, say("Work on another file: {gone}.", gone=one_line(most_alive.gone))
        )
    words: dict[str, str] = {"moot": moot, "agent": agent, **_command_words(most_alive)}
    if tool_name is None:
        check = _check_command(most_alive, moot, None)
        words |= {"ask": ask_command(most_alive, agent, moot, "release it"), "check": check}
    else:
        words |= _mcp_calls(most_alive, tool_name)
    return _refusal(sentences, say(_INSTEAD[most_alive.liveness], **words))


_LINE_REASONS: Final[dict[str, str]] = {
    "changes_line": "Your edit would change line {line}, which {agent} wrote{text}.",
    "inside_block": "Your edit would insert lines at line {line}, between lines of {agent}{text}.",
    "across_deletion": "Your edit would replace lines around line {line}, where {agent} deleted"
    " some.",
    "at_deletion": "Your edit would insert lines at line {line}, exactly where {agent} deleted"
    " some.",
    "wants_deleted": "Your edit looks for lines that {agent} changed or deleted there.",
    "new_file": "The file is new, so all of it belongs to {agent} until it is committed.",
}
_OTHER_LINES: Final = OwnText(
    "Lines that no other agent has changed are free: go on with your other edits of this file."
)


def explain_lines(conflicts: Sequence[LineConflict], agent: str, moot: OwnText) -> OwnText:
    """Explain why an edit was refused: which lines another agent has not committed yet."""
    sentences = [_line_conflict(conflict) for conflict in conflicts[:SHOWN]]
    if len(conflicts) > SHOWN:
        sentences.append(say("So are {more} more places.", more=len(conflicts) - SHOWN))
    holders = (each.holder for each in conflicts if each.holder is not None)
    first = next((holder for holder in holders if not holder.own_session), None)
    ask = OwnText()
    if first is not None and first.liveness == "active":
        ask = say("Or ask: `{ask}`.", ask=ask_command(first, agent, moot, "commit it"))
    elif first is not None:
        ask = say(
            "{owner} is {liveness}. If you need these lines, take the file over:"
            " `{moot} reserve {path} --takeover-stale`.",
            owner=first.owner,
            liveness=first.liveness,
            moot=moot,
            path=shell_word(f":/{conflicts[0].path}"),
        )
    return join(" ", (_MOOT, *sentences, _DO_NOT_WORK_AROUND, _OTHER_LINES, ask))


def _line_conflict(conflict: LineConflict) -> OwnText:
    holder = conflict.holder
    seen = OwnText("it is being written now")
    if holder is not None:
        liveness, last_seen = holder.liveness, one_line(holder.seen)
        seen = say("{liveness}, {seen}", liveness=liveness, seen=last_seen)
    shown = say(": {text}", text=conflict.text) if conflict.text.strip() else OwnText()
    where = say(
        "{path} lines {first}-{last}{unit} belong to {agent} and are not committed yet ({seen}).",
        path=conflict.path,
        first=conflict.first,
        last=conflict.last,
        unit=say(" ({unit})", unit=conflict.unit) if conflict.unit else OwnText(),
        agent=conflict.agent,
        seen=seen,
    )
    reason = say(
        _LINE_REASONS[conflict.reason], line=conflict.line, agent=conflict.agent, text=shown
    )
    return join(" ", (where, reason))


def explain_read_lines(notices: Sequence[LineNotice]) -> OwnText:
    """Tell which lines of a file that the agent has read another agent has not committed yet."""
    sentences = [
        say(
            "{path}: {agent} has not committed its changes at {ranges}.",
            path=notice.path,
            agent=notice.agent,
            ranges=_ranges(notice),
        )
        for notice in notices[:SHOWN]
    ]
    if len(notices) > SHOWN:
        sentences.append(say("So have {more} more.", more=len(notices) - SHOWN))
    return join(" ", (_MOOT, *sentences, _ONLY_THESE))


_ONLY_THESE: Final = OwnText("Moot refuses edits of lines that another agent has not committed.")


def explain_shared(notices: Sequence[LineNotice]) -> OwnText:
    """Tell that another agent has uncommitted lines in a function that the agent has edited."""
    sentences = [
        say(
            "Your edit of {path} was written. {agent} has uncommitted changes in the same function"
            " ({unit}), at {ranges}: make sure that both work together.",
            path=notice.path,
            agent=notice.agent,
            unit=notice.unit,
            ranges=_ranges(notice),
        )
        for notice in notices[:SHOWN]
    ]
    return join(" ", (_MOOT, *sentences))


def _ranges(notice: LineNotice) -> OwnText:
    shown = [say("{first}-{last}", first=a, last=b) for a, b in notice.ranges[:_SHOWN_RANGES]]
    more = len(notice.ranges) - len(shown)
    text = say("lines {shown}", shown=join(", ", shown))
    return say("{text} and {more} more places", text=text, more=more) if more else text


_SHOWN_RANGES: Final = 8


def _refusal(sentences: Sequence[OwnText], advice: OwnText) -> OwnText:
    return join(" ", (_MOOT, *sentences, _DO_NOT_WORK_AROUND, advice))


def explain_read(
    holders: Sequence[Holder], moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """Explain who holds a file that the agent has just read, before it plans an edit."""
    first = next((holder for holder in holders if not holder.own_session), None)
    if first is None:
        advice = say(_SIBLING, holder=holders[0].holder)
    else:
        advice = say(_READ_INSTEAD, check=_check_command(first, moot, tool_name))
    return join(" ", (_MOOT, *_sentences(holders), _READ, advice))


def explain_unseen(changes: Sequence[UnseenChange]) -> OwnText:
    """Explain why a whole file is not overwritten: it changed after the agent last read it."""
    sentences = [_change(change) for change in changes[:SHOWN]]
    if len(changes) > SHOWN:
        sentences.append(say("So were {more} more.", more=len(changes) - SHOWN))
    return join(" ", (_MOOT, *sentences, _READ_AGAIN))


def _change(change: UnseenChange) -> OwnText:
    return say(
        "{path} was changed by {who}{how} at {at}, after you last saw it.",
        path=change.path,
        who=change.agent or OwnText("someone unknown"),
        how=say(" ({how})", how=change.how) if change.how else OwnText(),
        at=OwnText(change.at),
    )


def explain_error(error: MootError) -> OwnText:
    """Explain any other error in one line, with its hint."""
    return say(
        "moot: refused{why}: [{code}] {message}.{hint}",
        why=OwnText("" if error.code in _CHECKED else ", because it cannot be checked"),
        code=error.code,
        message=one_line(str(error)),
        hint=say(" To fix it: {hint}.", hint=one_line(error.hint)) if error.hint else OwnText(),
    )


def _check_command(holder: Holder, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    """Return the command, or tool call, that tells whether the file is free."""
    if tool_name is None:
        return say("{moot} guard check {path}", moot=moot, path=holder.typed_path)
    return _mcp_calls(holder, tool_name)["check"]


def _sentences(holders: Sequence[Holder]) -> list[OwnText]:
    sentences = [_sentence(holder) for holder in holders[:SHOWN]]
    if len(holders) > SHOWN:
        sentences.append(say("So are {more} more.", more=len(holders) - SHOWN))
    return sentences


def ask_command(holder: Holder, agent: str, moot: OwnText, action: str) -> OwnText:
    """Return the shell command by which `agent` asks the holder for `action`."""
    return say(_ASK, moot=moot, agent=agent, action=OwnText(action), **_command_words(holder))


def _command_words(holder: Holder) -> dict[str, str]:
    """Return the values for a command line; names of files are quoted for the shell."""
    return {
        "owner": holder.owner,
        "path": shell_word(holder.path),
        "typed": holder.typed_path,
        "scope": holder.typed_scope,
        "blocker": shell_word(f"{holder.owner} holds {holder.path}", "REASON"),
    }


def _mcp_calls(holder: Holder, tool_name: ToolName) -> dict[str, OwnText]:
    """Return the two calls of our MCP tools, to ask and to check, with JSON arguments."""
    asked = {
        "action": "blocked",
        "to": holder.owner,
        "scope": holder.path,
        "subject": holder.path,
        "summary": f"{holder.owner} holds {holder.path}",
        "ask": "release it, or say when",
        "urgency": "medium",
    }
    checked = {"action": "check", "paths": [holder.path]}
    return {
        "ask": OwnText(f"{tool_name('event')} {as_arguments(asked)}"),
        "check": OwnText(f"{tool_name('scope')} {as_arguments(checked)}"),
    }


def as_arguments(values: dict[str, Any]) -> str:
    """Encode as JSON without backticks, which would end the code span around it."""
    import json

    return json.dumps(values).replace("`", "\\u0060")


def _sentence(holder: Holder) -> OwnText:
    own = " (a sub-agent of your own session)" if holder.own_session else ""
    return say(
        "{path} is held by {holder}{whose}{wider} ({liveness}, {seen}){work} since {since}.",
        path=holder.path,
        holder=holder.holder,
        whose=OwnText(own),
        wider=say(" as part of {scope}", scope=holder.scope) if holder.is_wider else OwnText(),
        liveness=holder.liveness,
        seen=one_line(holder.seen),
        work=_work(holder),
        since=OwnText(holder.since),
    )


def _work(holder: Holder) -> OwnText:
    if holder.work:
        return say(", working on {work},", work=holder.work)
    if holder.branch:
        return say(", on branch {branch},", branch=holder.branch)
    return OwnText(",")


# Why a shell command is refused: whose files it would change, how alive their holders are, and a
# safer command.

SHOWN_OWNERS: Final = 4


def explain_destruction(verdict: CommandVerdict, moot: OwnText) -> OwnText:
    """Explain why a shell command was refused; `moot` is how the agent calls us."""
    if verdict.also_here:
        return _explain_moved_head(verdict)
    sentences = [OwnText("moot:"), _describe_act(verdict)]
    sentences += [_of_owner(each) for each in verdict.endangered[:SHOWN_OWNERS]]
    if len(verdict.endangered) > SHOWN_OWNERS:
        more = len(verdict.endangered) - SHOWN_OWNERS
        sentences.append(say("So are those of {more} more.", more=more))
    sentences += [OwnText("Nothing was run. Do not work around this."), _advise(verdict)]
    holders = [
        each.holder
        for each in verdict.endangered
        if each.holder is not None and not each.holder.own_session
    ]
    if holders and verdict.agent is not None:
        ask = ask_command(holders[0], verdict.agent, moot, "commit it")
        sentences.append(say("Or ask: `{ask}`.", ask=ask))
    return join(" ", sentences)


def _explain_moved_head(verdict: CommandVerdict) -> OwnText:
    return say(
        "moot: {act} would move HEAD under {others}, who work in the same worktree: their"
        " next commit would be on another branch. Nothing was run. Do not work around this."
        " Work on another branch in your own worktree: `{safer} ../NAME BRANCH` (with"
        " `-b BRANCH` for a new one), and `cd` there.",
        act=one_line(verdict.act),
        others=one_line(", ".join(verdict.also_here)),
        safer=OwnText(verdict.safer),
    )


def _describe_act(verdict: CommandVerdict) -> OwnText:
    if not verdict.is_understood:
        template = "Moot could not understand {act} in this command; it may affect these:"
    elif verdict.is_hidden:
        template = "{act} would make git ignore changes in files that others work on:"
    elif verdict.is_commit:
        template = "{act} would commit files that others work on:"
    elif verdict.safer:
        template = "{act} would discard uncommitted work:"
    else:
        template = "{act} would overwrite or remove files that others work on:"
    return say(template, act=one_line(verdict.act))


def _of_owner(endangered: EndangeredFiles) -> OwnText:
    holder, files = endangered.holder, _listed(endangered)
    if holder is None:
        return say(
            "{files}: changed by a person or by someone unknown;"
            " you have not read the current version.",
            files=files,
        )
    if holder.own_session:
        return say(
            "{files}: held by {holder} (a sub-agent of your own session).",
            files=files,
            holder=holder.holder,
        )
    return say(
        "{files}: held by {owner} ({liveness}, {seen}){work}.",
        files=files,
        owner=holder.owner,
        liveness=holder.liveness,
        seen=one_line(holder.seen),
        work=say(", working on {work}", work=holder.work) if holder.work else OwnText(),
    )


def _listed(endangered: EndangeredFiles) -> OwnText:
    more = endangered.count - len(endangered.files)
    shown = quote_names(endangered.files)
    return say("{shown} and {more} more", shown=shown, more=more) if more else shown


def _advise(verdict: CommandVerdict) -> OwnText:
    if verdict.changed_since:
        return OwnText(
            "You hold this, but it changed since you last saw it: look at `git diff`, then"
            " repeat the command if these changes may be discarded."
        )
    if not verdict.is_understood:
        return OwnText("Write out the files you mean: `cd FOLDER && ...`, then their names.")
    if all(each.holder is None for each in verdict.endangered):
        own = _own_files_command(verdict) if verdict.own and verdict.safer else OwnText()
        leave = OwnText("Leave these files as they are, or ask the person who changed them.")
        decide = OwnText("You may discard files whose current version you have read.")
        return join(" ", (leave, own, decide))
    if not verdict.safer:
        return OwnText("Leave these files out.")
    if not verdict.own:
        return OwnText("None of these files are yours: leave them as they are.")
    return _own_files_command(verdict)


def _own_files_command(verdict: CommandVerdict) -> OwnText:
    files = join(" ", map(shell_word, verdict.own))
    safer = one_line(verdict.safer)
    return say("For your own files only: `{safer} {files}`.", safer=safer, files=files)
