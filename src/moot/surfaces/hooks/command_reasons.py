"""Why a shell command is held back, in words an agent can act on: whose files, how alive they are,
and the safer command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot.api.guard.commands import CommandVerdict, EndangeredFiles
    from moot.api.guard.holders import Holder

SHOWN_OWNERS: Final = 4

_ASK: Final = (
    "{moot} event blocked --from {agent} --to {owner} --subject {path} --blocker {blocker}"
    " --requested-action 'commit it, or say when' --urgency medium"
)


def explain_destruction(verdict: CommandVerdict, moot: str) -> str:
    """The reason of a refusal; `moot` is how the agent calls us."""
    sentences = ["moot:", _what(verdict)]
    sentences += [_of_owner(each) for each in verdict.endangered[:SHOWN_OWNERS]]
    if len(verdict.endangered) > SHOWN_OWNERS:
        sentences.append(f"So are those of {len(verdict.endangered) - SHOWN_OWNERS} more.")
    sentences += ["Nothing was run. Do not do it by another way.", _instead(verdict)]
    holders = [
        each.holder
        for each in verdict.endangered
        if each.holder is not None and not each.holder.own_session
    ]
    if holders and verdict.agent is not None:
        sentences.append(f"Or ask: `{_ask(holders[0], verdict.agent, moot)}`.")
    return " ".join(sentence for sentence in sentences if sentence)


def _what(verdict: CommandVerdict) -> str:
    if not verdict.is_understood:
        return f"{verdict.act} in this command could not be understood, and it may reach these:"
    if verdict.is_commit:
        return f"{verdict.act} would commit files that others work on:"
    if verdict.safer:
        return f"{verdict.act} would throw away work that is not committed:"
    return f"{verdict.act} would write over or remove files that others work on:"


def _of_owner(endangered: EndangeredFiles) -> str:
    holder, files = endangered.holder, _listed(endangered)
    if holder is None:
        return (
            f"{files}: changed by a person or by someone unknown, and not seen by you as it is now."
        )
    if holder.own_session:
        return f"{files}: held by {holder.holder} (a sub-agent of your own session)."
    work = f", working on {holder.work}" if holder.work else ""
    return f"{files}: held by {holder.owner} ({holder.liveness}, {holder.seen}){work}."


def _listed(endangered: EndangeredFiles) -> str:
    more = endangered.count - len(endangered.files)
    shown = ", ".join(endangered.files)
    return f"{shown} and {more} more" if more else shown


def _instead(verdict: CommandVerdict) -> str:
    if verdict.changed_since:
        return (
            "You hold this, but it was changed since you last saw it: look at it (`git diff`), and"
            " repeat the command if these changes are to go."
        )
    if not verdict.is_understood:
        return "Say plainly which files you mean: `cd FOLDER && ...`, then their names."
    if all(each.holder is None for each in verdict.endangered):
        own = f" {_own_alone(verdict)}" if verdict.own and verdict.safer else ""
        return (
            f"Leave that as it is, or ask the person whose it is.{own} What you have read as it is"
            " now is yours to decide about."
        )
    if not verdict.safer:
        return "Leave these files out."
    if not verdict.own:
        return "None of what it would reach is yours: leave it as it is."
    return _own_alone(verdict)


def _own_alone(verdict: CommandVerdict) -> str:
    files = " ".join(shlex.quote(file) for file in verdict.own)
    return f"Your own alone: `{verdict.safer} {files}`."


def _ask(holder: Holder, agent: str, moot: str) -> str:
    return _ASK.format(
        moot=moot,
        agent=agent,
        owner=holder.owner,
        path=shlex.quote(holder.path),
        blocker=shlex.quote(f"{holder.owner} holds {holder.path}"),
    )
