"""Why an edit is refused, in words an agent can act on: who, how alive, on what, since when, and
what to do instead."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

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
_READ: Final = "You may read it; an edit will be refused until it is given back."
_READ_INSTEAD: Final = (
    "If you mean to change it, do something else first, or wait until `{check}` says yes."
)
_STAY_OFF: Final = "Nothing was written. Do not write it by another way."
# Refusals that are the result of a check, and not the lack of one.
_CHECKED: Final = frozenset({"not_for_agents", "other_root", "unmerged_changes"})


def explain_held(
    holders: Sequence[Holder], agent: str, moot: str, tool_name: ToolName | None = None
) -> str:
    """The reason of a refusal; the advice is for the most alive of the holders.

    `moot` is how the agent calls us in a shell, `tool_name` how it calls tools of our server.
    """
    sentences = _sentences(holders)
    others = [holder for holder in holders if not holder.own_session]
    if not others:
        advice = _SIBLING.format(holder=holders[0].holder)
        return " ".join(("moot:", *sentences, _STAY_OFF, advice))
    most_alive = min(others, key=lambda holder: list(_INSTEAD).index(holder.liveness))
    if most_alive.gone is not None:
        advice = f"Work on another file: {most_alive.gone}."
        return " ".join(("moot:", *sentences, _STAY_OFF, advice))
    words = {"moot": moot, "agent": agent, **_words(most_alive)}
    if tool_name is None:
        check = _way_to_check(most_alive, moot, None)
        words |= {"ask": _ASK.format(**words), "check": check}
    else:
        words |= _calls_of_tools(most_alive, tool_name)
    advice = _INSTEAD[most_alive.liveness].format(**words)
    return " ".join(("moot:", *sentences, _STAY_OFF, advice))


def explain_read(holders: Sequence[Holder], moot: str, tool_name: ToolName | None = None) -> str:
    """What is told with a file that another holds: now is the time to think of something else."""
    first = next((holder for holder in holders if not holder.own_session), None)
    if first is None:
        advice = _SIBLING.format(holder=holders[0].holder)
    else:
        advice = _READ_INSTEAD.format(check=_way_to_check(first, moot, tool_name))
    return " ".join(("moot:", *_sentences(holders), _READ, advice))


def explain_unseen(changes: Sequence[UnseenChange]) -> str:
    """Why a whole file is not written from memory: who changed it, when, and what to do."""
    sentences = [_change(change) for change in changes[:SHOWN]]
    if len(changes) > SHOWN:
        sentences.append(f"So were {len(changes) - SHOWN} more.")
    again = "Nothing was written. Read it again, then repeat: what you write next will be written."
    return " ".join(("moot:", *sentences, again))


def _change(change: UnseenChange) -> str:
    who = change.agent or "someone unknown"
    how = f" ({change.how})" if change.how else ""
    return f"{change.path} was changed by {who}{how} at {change.at}, after you last saw it."


def explain_trouble(error: MootError) -> str:
    """Another trouble: closed, with what to do about it, in one line."""
    message = " ".join(str(error).split())
    hint = f" To mend it: {error.hint}." if error.hint else ""
    why = "" if error.code in _CHECKED else ", because it cannot be checked"
    return f"moot: held back{why}: [{error.code}] {message}.{hint}"


def _way_to_check(holder: Holder, moot: str, tool_name: ToolName | None) -> str:
    """How one sees whether it is free by now."""
    if tool_name is None:
        return f"{moot} guard check {holder.typed_path}"
    return _calls_of_tools(holder, tool_name)["check"]


def _sentences(holders: Sequence[Holder]) -> list[str]:
    sentences = [_sentence(holder) for holder in holders[:SHOWN]]
    if len(holders) > SHOWN:
        sentences.append(f"So are {len(holders) - SHOWN} more.")
    return sentences


def _words(holder: Holder) -> dict[str, str]:
    """For command lines: another's file names are quoted, whatever they hold."""
    return {
        "owner": holder.owner,
        "path": shlex.quote(holder.path),
        "scope": holder.typed_scope,
        "blocker": shlex.quote(f"{holder.owner} holds {holder.path}"),
    }


def _calls_of_tools(holder: Holder, tool_name: ToolName) -> dict[str, str]:
    """The same two as calls of tools, with their arguments as JSON."""
    import json

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
        "ask": f"{tool_name('event')} {json.dumps(asked)}",
        "check": f"{tool_name('scope')} {json.dumps(checked)}",
    }


def _sentence(holder: Holder) -> str:
    wider = f" as part of {holder.scope}" if holder.is_wider else ""
    whose = " (a sub-agent of your own session)" if holder.own_session else ""
    return (
        f"{holder.path} is held by {holder.holder}{whose}{wider}"
        f" ({holder.liveness}, {holder.seen}){_work(holder)} since {holder.since}."
    )


def _work(holder: Holder) -> str:
    if holder.work:
        return f", working on {holder.work},"
    return f", on branch {holder.branch}," if holder.branch else ","
