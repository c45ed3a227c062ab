"""Find the reservations that refuse an edit, and describe their holders for the refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.session import read_presence
from moot.core.errors import NotFound
from moot.core.text import OwnText, Quoted, quote_optional, shell_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from moot.api.presence.exited_agents import ExitedHolder
    from moot.api.session import Session
    from moot.protocols.presence.liveness import LivenessVerdict
    from moot.protocols.presence.model import Reservation, State
    from moot.protocols.presence.overlap import OverlapConflict, Requester
    from moot.protocols.presence.paths import Scope
    from moot.workspace.workspace import Workspace


# The lines of an agent are reserved as `FILE/@agent`.
REGION: Final = "/@"


class Holder(msgspec.Struct, frozen=True):
    """An agent that holds `path`: how alive it is and what it works on.

    `seen` says when it was last seen, or why that is unknown. `is_wider`: it holds another scope
    than the path itself. `work` is the work of the reservation, or else of the agent. `gone`: its
    program has exited on this machine; says what it left and what to do. `holder` is the owner, or
    the alias of its sub-agent; `own_session`: it belongs to the session that asks.
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
        """Return the path as it is typed in a shell, in any folder."""
        return _typed(self.path)

    @property
    def typed_scope(self) -> OwnText:
        """Return the held scope as it is typed in a shell."""
        return _typed(self.scope)


class LineConflict(msgspec.Struct, frozen=True):
    """Lines of another agent that an edit would touch: from `first` to `last`, counted from 1.

    `line` is the one in the way, `text` what is in it, `unit` the function around it. `reason` is
    one of `lines/rules.py`. `holder` is None if the lines are only about to be written.
    """

    path: Quoted
    agent: str
    first: int
    last: int
    line: int
    text: Quoted
    unit: Quoted
    reason: str
    holder: Holder | None = None


class LineNotice(msgspec.Struct, frozen=True):
    """Uncommitted lines of another agent in a file: `ranges` of first and last line, from 1.

    `unit` is the function or class that these lines share with those of the agent who is told;
    empty if they are all lines of the other agent in the file.
    """

    path: Quoted
    agent: str
    ranges: tuple[tuple[int, int], ...]
    unit: Quoted = Quoted("")


def region_of(scope: str, label: str) -> str:
    """Return the scope that stands for an agent's lines of a file."""
    return f"{scope}{REGION}{label}"


def file_of_region(key: str) -> str:
    """Return the file whose lines a reservation stands for; other scopes stay as they are.

    A real folder whose name begins with `@` has a folder above it, and no file. Callers that know
    the disk compare with it.
    """
    file, found, label = key.rpartition(REGION)
    return file if found and "/" not in label else key


def is_region_of(key: str, file: str) -> bool:
    """Return whether a reservation stands for an agent's lines of this file."""
    return key != file and file_of_region(key) == file


def describe_holder(
    conflict: OverlapConflict, state: State, gone: Mapping[str, ExitedHolder] = {}
) -> Holder:
    """Describe the holder of a conflict; `gone` are the owners whose program has exited."""
    from moot.core.clock import to_text
    from moot.protocols.presence import model

    held, verdict = conflict.held, conflict.verdict
    member = model.find_member(state, held.owner)
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


def _explain_gone(holder: ExitedHolder | None, scope: str) -> str | None:
    if holder is None:
        return None
    from moot.api.presence.exited_agents import describe_exited_holder

    return describe_exited_holder(holder, scope)


def _last_seen(verdict: LivenessVerdict) -> str:
    from moot.protocols.presence.liveness import format_ago

    if verdict.reason or verdict.last_seen_at is None:
        return verdict.because
    return f"last seen {format_ago(verdict.now - verdict.last_seen_at)}"


def find_blockers(
    session: Session,
    paths: Iterable[str],
    root: Path,
    name: str | None,
    read: Callable[[str, str], Scope] | None = None,
) -> tuple[OverlapConflict, ...]:
    """Return the reservations of others than `name` that overlap `paths`, relative to `root`.

    Without a name every holder counts. If a sub-agent asks, its working siblings count too. `read`
    parses a path; the default parses the name of a real file. Nothing is recorded.
    """
    from moot.api.presence.observation import observe
    from moot.protocols.presence import overlap, sub_agents, views
    from moot.protocols.presence.paths import read_path

    claims = [(read or read_path)(path, str(root)) for path in paths]
    workspace = session.workspace
    state = read_presence(workspace)
    observation = observe(workspace, overlap.find_owners(state, claims), session.stale_millis)
    holder = _holder(workspace, name)
    alias = sub_agents.read_alias(state, *holder, session.sub_agent)
    found = views.find_blockers(state, claims, holder, observation, alias)
    if not any(REGION in conflict.held.key for conflict in found):
        return found
    from moot.api.guard.line_edits import drop_empty_regions

    return drop_empty_regions(session, state, found)


def _holder(workspace: Workspace, name: str | None) -> tuple[str, int]:
    if name is None:
        return "", 0
    agent = workspace.engine.registry().agents.get(name)
    if agent is None:
        raise NotFound(
            "agent_not_found", f"no agent is called {name}", hint="`moot agent list` shows all"
        )
    return name, agent.epoch


def requester_of(session: Session, state: State, name: str) -> Requester:
    """Return who asks to write: the name, its epoch, the sub-agent, and the time."""
    from moot.protocols.presence.overlap import Requester
    from moot.protocols.presence.sub_agents import read_alias

    engine = session.workspace.engine
    agent = engine.registry().agents.get(name)
    epoch = agent.epoch if agent is not None else 0
    alias = read_alias(state, name, epoch, session.sub_agent)
    return Requester(name, epoch, engine.clock(), {}, session.stale_millis, alias)


def reservations_in_the_way(state: State, requester: Requester) -> tuple[Reservation, ...]:
    """Return all reservations that keep the requester from writing."""
    from moot.protocols.presence.overlap import is_in_the_way

    return tuple(held for held in state.live if is_in_the_way(state, held, requester))
