"""Who stands in the way: what a refusal tells about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.core.quoted import OwnText, Quoted, quote_optional, shell_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from moot.api.gone_holders import GoneHolder
    from moot.protocols.presence.liveness import LivenessVerdict
    from moot.protocols.presence.model import State
    from moot.protocols.presence.overlap import OverlapConflict


class Holder(msgspec.Struct, frozen=True):
    """Who stands in the way of an edit of `path`, how alive they are, on what they work.

    `seen` says when they were last seen, or why that is not known. `is_wider`: they hold another
    scope than the path itself. `work` is what they hold it for, else what they work on at all.
    `gone`: its program is gone from this machine, and this says what it left and what can be done.
    `holder` is the owner, or the alias of the owner's sub-agent that works there; `own_session`: it
    is one of the very session that asks.
    """

    path: Quoted
    scope: Quoted
    is_wider: bool
    owner: str
    liveness: str
    seen: str
    work: Quoted | None
    branch: Quoted | None
    since: str
    holder: str
    own_session: bool = False
    gone: str | None = None

    @property
    def typed_path(self) -> OwnText:
        """How the path is typed in a shell, whichever folder that is in."""
        return _typed(self.path)

    @property
    def typed_scope(self) -> OwnText:
        """The same of what they hold."""
        return _typed(self.scope)


def describe_holder(
    conflict: OverlapConflict, state: State, gone: Mapping[str, GoneHolder] = {}
) -> Holder:
    """Who holds it, how alive they are and on what they work; `gone` are those who are."""
    from moot.core.clock import to_text
    from moot.protocols.presence import sorted_index

    held, verdict = conflict.held, conflict.verdict
    member = sorted_index.find_member(state, held.owner)
    return Holder(
        path=Quoted(conflict.claim.shown),
        scope=Quoted(held.scope),
        is_wider=held.key != conflict.claim.key,
        owner=held.owner,
        liveness=str(verdict.liveness),
        seen=_last_seen(verdict),
        work=quote_optional(held.work or (member.work if member is not None else None)),
        branch=quote_optional(held.branch),
        since=to_text(held.since),
        holder=held.holder,
        own_session=conflict.own_session,
        gone=_explain_gone(gone.get(held.owner), held.scope),
    )


def _typed(scope: str) -> OwnText:
    from moot.protocols.presence.paths import write_typed

    return shell_word(write_typed(scope))


def _explain_gone(holder: GoneHolder | None, scope: str) -> str | None:
    if holder is None:
        return None
    from moot.api.gone_holders import explain_gone

    return explain_gone(holder, scope)


def _last_seen(verdict: LivenessVerdict) -> str:
    from moot.protocols.presence.liveness import format_ago

    if verdict.reason or verdict.last_seen_at is None:
        return verdict.because
    return f"last seen {format_ago(verdict.now - verdict.last_seen_at)}"
