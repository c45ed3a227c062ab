"""Why a shell command is held back, in words an agent can act on: whose files, how alive they are,
and the safer command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from moot.core.quoted import OwnText, join, one_line, quote_names, say, shell_word

if TYPE_CHECKING:
    from moot.api.guard.commands import CommandVerdict, EndangeredFiles
    from moot.api.guard.holders import Holder

SHOWN_OWNERS: Final = 4

_ASK: Final = (
    "{moot} event blocked --from {agent} --to {owner} --subject {path} --blocker {blocker}"
    " --requested-action 'commit it, or say when' --urgency medium"
)


def explain_destruction(verdict: CommandVerdict, moot: OwnText) -> OwnText:
    """The reason of a refusal; `moot` is how the agent calls us."""
    if verdict.also_here:
        return _explain_moved_head(verdict)
    sentences = [OwnText("moot:"), _what(verdict)]
    sentences += [_of_owner(each) for each in verdict.endangered[:SHOWN_OWNERS]]
    if len(verdict.endangered) > SHOWN_OWNERS:
        more = len(verdict.endangered) - SHOWN_OWNERS
        sentences.append(say("So are those of {more} more.", more=more))
    sentences += [OwnText("Nothing was run. Do not do it by another way."), _instead(verdict)]
    holders = [
        each.holder
        for each in verdict.endangered
        if each.holder is not None and not each.holder.own_session
    ]
    if holders and verdict.agent is not None:
        sentences.append(say("Or ask: `{ask}`.", ask=_ask(holders[0], verdict.agent, moot)))
    return join(" ", sentences)


def _explain_moved_head(verdict: CommandVerdict) -> OwnText:
    return say(
        "moot: {act} would move HEAD under {others}, who work in this same worktree: what they"
        " commit next would be on another branch. Nothing was run. Do not do it by another way."
        " Work on another branch in a worktree of your own: `{safer} ../NAME BRANCH` (with"
        " `-b BRANCH` for a new one), and `cd` there.",
        act=one_line(verdict.act),
        others=one_line(", ".join(verdict.also_here)),
        safer=OwnText(verdict.safer),
    )


def _what(verdict: CommandVerdict) -> OwnText:
    if not verdict.is_understood:
        template = "{act} in this command could not be understood, and it may reach these:"
    elif verdict.is_hidden:
        template = "{act} would hide changes of files that others work on from git:"
    elif verdict.is_commit:
        template = "{act} would commit files that others work on:"
    elif verdict.safer:
        template = "{act} would throw away work that is not committed:"
    else:
        template = "{act} would write over or remove files that others work on:"
    return say(template, act=one_line(verdict.act))


def _of_owner(endangered: EndangeredFiles) -> OwnText:
    holder, files = endangered.holder, _listed(endangered)
    if holder is None:
        return say(
            "{files}: changed by a person or by someone unknown, and not seen by you as it is now.",
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


def _instead(verdict: CommandVerdict) -> OwnText:
    if verdict.changed_since:
        return OwnText(
            "You hold this, but it was changed since you last saw it: look at it (`git diff`), and"
            " repeat the command if these changes are to go."
        )
    if not verdict.is_understood:
        return OwnText("Say plainly which files you mean: `cd FOLDER && ...`, then their names.")
    if all(each.holder is None for each in verdict.endangered):
        own = _own_alone(verdict) if verdict.own and verdict.safer else OwnText()
        leave = OwnText("Leave that as it is, or ask the person whose it is.")
        decide = OwnText("What you have read as it is now is yours to decide about.")
        return join(" ", (leave, own, decide))
    if not verdict.safer:
        return OwnText("Leave these files out.")
    if not verdict.own:
        return OwnText("None of what it would reach is yours: leave it as it is.")
    return _own_alone(verdict)


def _own_alone(verdict: CommandVerdict) -> OwnText:
    files = join(" ", map(shell_word, verdict.own))
    return say("Your own alone: `{safer} {files}`.", safer=one_line(verdict.safer), files=files)


def _ask(holder: Holder, agent: str, moot: OwnText) -> OwnText:
    return say(
        _ASK,
        moot=moot,
        agent=agent,
        owner=holder.owner,
        path=shell_word(holder.path),
        blocker=shell_word(f"{holder.owner} holds {holder.path}", "REASON"),
    )
