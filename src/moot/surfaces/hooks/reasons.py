"""Why an edit is refused, in words an agent can act on: who, how alive, on what, since when, and
what to do instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from moot.core.quoted import OwnText, join, one_line, say, shell_word

if TYPE_CHECKING:
    from moot.api.guard.edits import UnseenChange
    from moot.api.guard.holders import Holder
    from moot.api.guard.offered_tools import ToolName
    from moot.core.errors import MootError

SHOWN: Final = 4

_ASK: Final = (
    "{moot} event blocked --from {agent} --to {owner} --subject {path} --blocker {blocker}"
    " --requested-action 'release it, or say when' --urgency medium"
)
# By the holder's liveness, the most alive first. How to ask and to check is filled in: in a shell,
# or by tools.
_INSTEAD: Final[dict[str, str]] = {
    "active": "Work on another file, or ask for it: `{ask}`, or wait until `{check}` says yes.",
    "stale": "{owner} has gone quiet. If you must have it, take it over:"
    " `{moot} reserve {scope} --takeover-stale`; else work on another file, or ask: `{ask}`.",
    "evicted": "{owner} is gone. To go on, take it over:"
    " `{moot} reserve {scope} --takeover-stale`.",
}
# Nobody writes mail to their own session; a sub-agent ends soon, and tells the one who started it.
_SIBLING: Final = (
    "{holder} belongs to this very session, so do not write to it: work on another file until it"
    " ends, or leave this change out and say so when you are done."
)
_READ: Final = OwnText("You may read it; an edit will be refused until it is given back.")
_READ_INSTEAD: Final = (
    "If you mean to change it, do something else first, or wait until `{check}` says yes."
)
_MOOT: Final = OwnText("moot:")
_STAY_OFF: Final = OwnText("Nothing was written. Do not write it by another way.")
_READ_AGAIN: Final = OwnText(
    "Nothing was written. Read it again, then repeat: what you write next will be written."
)
# Refusals that are the result of a check, and not the lack of one.
_CHECKED: Final = frozenset({"not_for_agents", "other_root", "unmerged_changes"})


def explain_held(
    holders: Sequence[Holder], agent: str, moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """The reason of a refusal; the advice is for the most alive of the holders.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server.
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
    words: dict[str, str] = {"moot": moot, "agent": agent, **_words(most_alive)}
    if tool_name is None:
        check = _way_to_check(most_alive, moot, None)
        words |= {"ask": say(_ASK, **words), "check": check}
    else:
        words |= _calls_of_tools(most_alive, tool_name)
    return _refusal(sentences, say(_INSTEAD[most_alive.liveness], **words))


def _refusal(sentences: Sequence[OwnText], advice: OwnText) -> OwnText:
    return join(" ", (_MOOT, *sentences, _STAY_OFF, advice))


def explain_read(
    holders: Sequence[Holder], moot: OwnText, tool_name: ToolName | None = None
) -> OwnText:
    """What is told with a file that another holds: now is the time to think of something else."""
    first = next((holder for holder in holders if not holder.own_session), None)
    if first is None:
        advice = say(_SIBLING, holder=holders[0].holder)
    else:
        advice = say(_READ_INSTEAD, check=_way_to_check(first, moot, tool_name))
    return join(" ", (_MOOT, *_sentences(holders), _READ, advice))


def explain_unseen(changes: Sequence[UnseenChange]) -> OwnText:
    """Why a whole file is not written from memory: who changed it, when, and what to do."""
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


def explain_trouble(error: MootError) -> OwnText:
    """Another trouble: closed, with what to do about it, in one line."""
    return say(
        "moot: held back{why}: [{code}] {message}.{hint}",
        why=OwnText("" if error.code in _CHECKED else ", because it cannot be checked"),
        code=error.code,
        message=one_line(str(error)),
        hint=say(" To fix it: {hint}.", hint=one_line(error.hint)) if error.hint else OwnText(),
    )


def _way_to_check(holder: Holder, moot: OwnText, tool_name: ToolName | None) -> OwnText:
    """How one sees whether it is free by now."""
    if tool_name is None:
        return say("{moot} guard check {path}", moot=moot, path=holder.typed_path)
    return _calls_of_tools(holder, tool_name)["check"]


def _sentences(holders: Sequence[Holder]) -> list[OwnText]:
    sentences = [_sentence(holder) for holder in holders[:SHOWN]]
    if len(holders) > SHOWN:
        sentences.append(say("So are {more} more.", more=len(holders) - SHOWN))
    return sentences


def _words(holder: Holder) -> dict[str, str]:
    """For command lines: another's file names are quoted, whatever they hold."""
    return {
        "owner": holder.owner,
        "path": shell_word(holder.path),
        "scope": holder.typed_scope,
        "blocker": shell_word(f"{holder.owner} holds {holder.path}", "REASON"),
    }


def _calls_of_tools(holder: Holder, tool_name: ToolName) -> dict[str, OwnText]:
    """The same two as calls of tools, with their arguments as JSON."""
    asked = {
        "action": "blocked",
        "to": holder.owner,
        "subject": holder.path,
        "summary": f"{holder.owner} holds {holder.path}",
        "ask": "release it, or say when",
        "urgency": "medium",
    }
    checked = {"action": "check", "paths": [holder.path]}
    return {
        "ask": OwnText(f"{tool_name('event')} {_as_arguments(asked)}"),
        "check": OwnText(f"{tool_name('scope')} {_as_arguments(checked)}"),
    }


def _as_arguments(values: dict[str, Any]) -> str:
    """As JSON in which no backtick can end the code span that it is shown in."""
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
