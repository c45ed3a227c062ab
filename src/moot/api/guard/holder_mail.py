"""Mail the holder of a file that changed: what changed, and what Moot knows about who did it.

Each change is mailed once, by the first hook or run that finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.api.guard.held_changes import CHANGED_UNKNOWN, HeldChange, is_held_in
from moot.api.guard.notices import claim_notice, release_notice
from moot.api.guard.who_changed import Certainty, Verdict
from moot.core.errors import MootError
from moot.core.names import SYSTEM
from moot.core.text import quote_name

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

SHOWN: Final = 20


def notify_holders(workspace: Workspace, changes: Iterable[HeldChange]) -> set[str]:
    """Mail each holder the changes of its files, each once; return the paths that could not be
    sent."""
    groups: dict[tuple[str, Verdict], list[HeldChange]] = {}
    for each in changes:
        if claim_change(workspace.path, each):
            groups.setdefault((each.held.owner, each.verdict), []).append(each)
    not_sent = set[str]()
    for (owner, verdict), told in groups.items():
        try:
            mail_holder(workspace, owner, verdict, told)
        except MootError:
            for each in told:
                release_notice(workspace.path, *_identify(each))
                not_sent.add(each.change.path)
    return not_sent


def claim_change(workspace: Path, each: HeldChange) -> bool:
    """Claim the notice of a change: True for the first caller. A file held elsewhere is reported
    once."""
    return claim_notice(workspace, *_identify(each))


def _identify(each: HeldChange) -> tuple[str, ...]:
    change, held = each.change, each.held
    # A removed file has only its folder's time, which may change: round it.
    moment = change.until_ns if change.after else change.until_ns // 10**9
    what = change.before or "", change.after or "", str(moment)
    if not is_held_in(held, change.worktree):
        what = "elsewhere", str(held.fencing), ""
    return "changed", change.worktree, change.path, *what


def describe_change(each: HeldChange) -> str:
    change = each.change
    act = "deleted" if change.after == "" else "made" if change.before == "" else "changed"
    ids = f"{change.before or 'nothing'} -> {change.after or 'nothing'}"
    return f"- {quote_name(change.path)} in {quote_name(change.worktree)}: {act} ({ids})"


def describe_verdict(verdict: Verdict) -> str:
    if verdict.certainty is Certainty.ONLY_KNOWN:
        return f"changed while {verdict.who}'s command ran; no one else known to Moot was at work"
    return f"changed by {verdict.who}" if verdict.who else CHANGED_UNKNOWN


def mail_holder(
    workspace: Workspace, owner: str, verdict: Verdict, changes: Sequence[HeldChange]
) -> None:
    """Send one message about changes that have the same explanation."""
    from moot.api.mail.outgoing import OutgoingMessage, post_message

    paths = list(dict.fromkeys(each.change.path for each in changes))
    many = f"{len(paths)} files" if len(paths) > 1 else quote_name(paths[0])
    lines = [describe_change(each) for each in changes[:SHOWN]]
    if len(changes) > SHOWN:
        lines.append(f"- and {len(changes) - SHOWN} more changes")
    what = describe_verdict(verdict)
    letter = OutgoingMessage(
        to=(owner,),
        subject=" ".join(f"INFO: {what}: {many}".split())[:200],
        body="\n".join((f"What you hold was {what}:", "", *lines, "", _ADVICE[verdict.certainty])),
        importance="high",
    )
    post_message(workspace, SYSTEM, letter)


_ADVICE: Final[Mapping[Certainty, str]] = {
    Certainty.UNKNOWN: "Who did it is not known. Look at the files before you go on.",
    Certainty.ONLY_KNOWN: "This does not prove who did it: a person or an unknown program may have."
    " Look at the files before you go on.",
    Certainty.PROVED: "The bytes are those that its call announced. Look at the files before you"
    " go on.",
}
