"""Make a workspace for a repository and all its worktrees; forget one that was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from moot.api.hook_setup.tools import (
    ASK_FOR_SERVER,
    ASK_FOR_TRUST,
    EVERY_TOOL,
    TOOLS,
    InstalledHooks,
    install,
    require_tool,
    unguarded_programs,
)
from moot.api.operation import operation
from moot.core.errors import MootError, NotFound, Refused
from moot.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from moot.api.session import Session
    from moot.core.clock import Clock


class EarlierLedger(msgspec.Struct, frozen=True):
    """Another ledger that was made in this folder, and its newest checkpoint known here."""

    origin: str
    checkpoint: int | None


class JoinedKeeper(msgspec.Struct, frozen=True):
    """This machine's name at the keeper, the keeper's address, and how many events were copied."""

    machine: str
    keeper: str
    events: int


class MadeWorkspace(msgspec.Struct, frozen=True):
    """`created` is False if it existed already: then nothing changed.

    `hooks` lists the coding tools that were set up. `programs` are the tools on PATH (and git) that
    still do not ask before they edit here; a tool whose setup failed is in both, with the reason.
    `you` is the everyday name of the person at the terminal, if there is one. `joined` is set if
    another machine keeps the ledger. `has_keys` is False if the ledger was made with another key
    folder: then no name can be registered from here.
    """

    created: bool
    workspace: str
    keys: str
    fingerprint: str
    operator: bool
    earlier: list[EarlierLedger]
    programs: list[str]
    hooks: list[InstalledHooks]
    you: str | None = None
    joined: JoinedKeeper | None = None
    has_keys: bool = True


class ForgottenWorkspace(msgspec.Struct, frozen=True):
    """The folder in which no workspace is expected any more."""

    folder: str


def exists(session: Session) -> bool:
    """Return True if there is already a workspace where `init` would make one."""
    from moot.workspace.find import FOLDER

    return (project_folder(session) / FOLDER).exists()


def is_fresh_repository(session: Session) -> bool:
    """Return True in a git repository without a workspace, unless `home` names one."""
    from moot.workspace.find import git_common_dir

    if session.home is not None or git_common_dir(session.folder) is None:
        return False
    return session.workspace_or_none is None


@operation("init", writes=True, runs_programs=True)
def init(
    session: Session,
    *,
    passphrase: str | None = None,
    tools: Sequence[str] = (),
    trust: bool = False,
) -> MadeWorkspace:
    """Make a workspace for the repository around the session's folder; a repeat changes nothing.

    Writes `.moot/` in the root of the main worktree (ignored by git) and the keys into the key
    folder. With a `passphrase` of at least 8 characters it also makes the person's key `operator`.
    The session's `stale_millis` becomes the workspace's. `tools` are set up so that they ask before
    they edit; `all` means those on PATH. `trust` stores the user's trust in these hooks and in our
    server, for tools that require it: only a person may decide that. A tool that cannot be set up
    does not stop the others: its reason is in `hooks`.
    """
    from moot.workspace.create import create_workspace
    from moot.workspace.trust import fingerprint

    for tool in tools:
        require_tool(tool, (*TOOLS, EVERY_TOOL))

    folder = project_folder(session)
    clock, is_fixed = _clock(session)
    created = create_workspace(
        folder, session.keys, clock, fixed_clock=is_fixed, passphrase=passphrase
    )
    session.home = folder
    if created:
        _set_stale_time(session)
    hooks = _install_hooks(session, tools, trust)
    workspace = session.workspace
    return MadeWorkspace(
        created,
        str(workspace.path),
        str(session.keys.path),
        fingerprint(workspace.trust),
        "operator" in workspace.engine.registry().agents,
        _earlier_ledgers(session, folder) if created else [],
        list(unguarded_programs(session)),
        hooks,
        session.everyday_name(),
        has_keys=_has_keys(session),
    )


def _has_keys(session: Session) -> bool:
    """Return True if the ledger was made with this key folder; a joined machine needs no keys."""
    from moot.engine.signers import find_system_signatory

    workspace = session.workspace
    if workspace.joined is not None or workspace.left is not None:
        return True
    return find_system_signatory(workspace.trust, workspace.engine.keys) is not None


def _install_hooks(session: Session, tools: Sequence[str], trust: bool) -> list[InstalledHooks]:
    """Set up each tool; one whose settings cannot be read does not stop the others."""
    wanted = unguarded_programs(session) if EVERY_TOOL in tools else tuple(dict.fromkeys(tools))
    done = []
    for tool in wanted:
        try:
            done.append(
                install(session, tool, trust=trust and tool in ASK_FOR_TRUST | ASK_FOR_SERVER)
            )
        except MootError as error:
            why = Finding(rule="hooks", code=error.code, message=str(error), hint=error.hint or "")
            done.append(InstalledHooks(tool, [], None, (why,)))
    return done


@operation("ledger.forget", writes=True)
def forget(session: Session, folder: Path | None = None) -> ForgottenWorkspace:
    """Stop expecting a workspace in `folder` (default: the project around the session's folder).

    If a workspace was removed, hooks refuse every edit until it is back or this is called. This
    removes nothing: its keys and known checkpoints stay in the key folder. Refused as
    `human_key_required` to an agent, as `workspace_exists` while it is there, and as
    `workspace_not_known` if this user never had one there.
    """
    from moot.workspace.find import FOLDER
    from moot.workspace.known_workspaces import forget_place

    place = project_folder(session) if folder is None else session.folder / folder
    if session.acting is not None:
        raise Refused(
            "human_key_required",
            f"{session.acting} is not a person: forgetting a workspace is for people",
            hint="run this yourself, outside of `moot run`",
        )
    if (place / FOLDER).exists():
        hint = "uninstall its hooks instead: `moot hook uninstall TOOL`"
        raise Refused("workspace_exists", f"{place / FOLDER} exists", hint=hint)
    if not forget_place(session.keys_path, place):
        hint = "name the folder that contained .moot"
        raise NotFound("workspace_not_known", f"no workspace is expected in {place}", hint=hint)
    return ForgottenWorkspace(str(place))


def project_folder(session: Session) -> Path:
    from moot.workspace.find import FOLDER, project_root

    folder = session.home or project_root(session.folder)
    return folder.parent if folder.name == FOLDER else folder


def _earlier_ledgers(session: Session, folder: Path) -> list[EarlierLedger]:
    workspace = session.workspace
    origins = [
        each for each in session.keys.ledgers_made_in(folder) if each != workspace.trust.origin
    ]
    notes = {origin: workspace.seen_checkpoints.newest(origin) for origin in origins}
    return [
        EarlierLedger(origin, note.number if note is not None else None)
        for origin, note in notes.items()
    ]


def _set_stale_time(session: Session) -> None:
    from moot.core.names import SYSTEM
    from moot.protocols.presence import STREAM
    from moot.protocols.presence.commands import SetStaleMinutes
    from moot.protocols.presence.model import DEFAULT_STALE_MILLIS

    stale = session.stale_millis
    if stale is not None and stale != DEFAULT_STALE_MILLIS:
        session.workspace.engine.execute(STREAM, SetStaleMinutes(stale_millis=stale), SYSTEM)


def _clock(session: Session) -> tuple[Clock, bool]:
    from moot.core.clock import fixed_clock, system_clock

    text = session.clock_text
    return (fixed_clock(text), True) if text else (system_clock, False)
