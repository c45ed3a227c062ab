"""Several machines on one ledger: keep it for others; invite, join, list and revoke machines.

leaving.py is for a machine that leaves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.errors import Malformed, MootError, Refused
from moot.core.names import require_machine_name
from moot.core.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.api.workspace.workspaces import MadeWorkspace
    from moot.hosts.keeper import KeeperServer
    from moot.hosts.members import MemberFile
    from moot.hosts.messages import MemberInfo
    from moot.hosts.opening import JoinedLedger
    from moot.workspace.workspace import Workspace


PORT: Final = 7417
LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = ("0.0.0.0", "::")
MOST_NAME: Final = 48


class KeeperAddress(msgspec.Struct, frozen=True):
    """The address of a keeper, and the fingerprint of its certificate."""

    address: str
    fingerprint: str


class InvitedMachine(msgspec.Struct, frozen=True):
    """`invitation` is the code for `moot init --join`; it admits one machine, once. It works while
    a keeper runs: `is_kept_now` says whether one runs now."""

    invitation: str
    address: str
    fingerprint: str
    expires_at: str
    is_kept_now: bool = True


class MachineRow(msgspec.Struct, frozen=True):
    """A machine, the id of its key folder in the record, and whether it was revoked. `agents`
    counts those with a valid key; `has_left`: it left by itself."""

    name: str
    custodian: str
    joined_at: str | None
    agents: int
    is_revoked: bool
    here: bool
    last_seen_at: str | None = None
    version: str = ""
    has_left: bool = False


class MachineList(msgspec.Struct, frozen=True):
    """`keeper` is the keeper's address; None: the ledger is on this machine only. `here` is this
    machine's name there, None if it keeps the ledger. `why_old` says why the list may be old or
    incomplete: the keeper could not be reached. `is_kept_now`: a keeper runs; None if this machine
    does not keep the ledger."""

    keeper: str | None
    machines: tuple[MachineRow, ...]
    here: str | None = None
    why_old: str | None = None
    is_kept_now: bool | None = None


@contextmanager
def keep(
    session: Session,
    host: str = LOOPBACK,
    port: int = PORT,
    address: str | None = None,
    on_failure: Callable[[], None] = lambda: None,
    warn: Callable[[str], None] = lambda _: None,
    socket_file: Path | None = None,
) -> Iterator[KeeperAddress]:
    """Keep this workspace's ledger for other machines, while the block runs.

    `socket_file` is a Unix socket for clones and containers on this machine, instead of HOST and
    PORT. `address` is the address that others use, if it is another one. Another thread calls
    `on_failure` if the keeper fails, and the end of the block then raises the reason
    (`keeper_failed`); it calls `warn` with problems that do not stop the keeper. Refused as
    `human_key_required` to an agent, and as `kept_elsewhere` on a machine that has joined.
    """
    from moot.hosts.keeper import KeeperServer

    session.require_no_agent("keeping the ledger for others")
    workspace = session.workspace
    _require_kept_here(workspace)
    _require_address(address)
    folder = _keeper_folder(session)
    server = KeeperServer(
        workspace.engine,
        workspace.artifacts,
        folder,
        (workspace.path / "trust.json").read_bytes(),
        _repository(session),
        on_failure,
        warn,
    )
    try:
        own = _listen(server, host, port, socket_file)
        shown = KeeperAddress(address or own, server.fingerprint)
        _write_address(folder, shown)
        yield shown
    finally:
        server.close()


@operation("invite", writes=True)
def invite(session: Session, *, hours: int = 24, address: str | None = None) -> InvitedMachine:
    """Return a code with which one more machine can join, once, until it expires.

    A joined machine registers agents and signs with their keys; a person's key still needs a
    person's consent. Refused as `not_kept` before `moot keep` has run here.
    """
    from moot.hosts.joining import Invitation
    from moot.hosts.keeper import is_keeper_running
    from moot.hosts.members import HOUR

    session.require_no_agent("inviting a machine")
    workspace = session.workspace
    _require_kept_here(workspace)
    if not 1 <= hours <= 24 * 30:
        raise Malformed("an invitation is valid for 1 to 720 hours", code="bad_hours")
    known = _read_address(_keeper_folder(session))
    if known is None:
        raise Refused(
            "not_kept",
            "no machine can join yet: no keeper has run here",
            hint="start it first: `moot keep`",
        )
    _require_address(address)
    shown = address or known.address
    _require_reachable(shown)
    now = workspace.engine.clock()
    identity, code = _members(session).invite(now, hours)
    invitation = Invitation(shown, known.fingerprint, identity, code)
    return InvitedMachine(
        invitation.text,
        shown,
        known.fingerprint,
        to_text(now + hours * HOUR),
        is_keeper_running(_keeper_folder(session)),
    )


@operation("init.join", writes=True, runs_programs=True)
def join_keeper(
    session: Session, invitation: str, *, name: str | None = None, tools: Sequence[str] = ()
) -> MadeWorkspace:
    """Make a workspace whose ledger another machine keeps, with a verified copy of it here.

    `name` is this machine's name there (default: its host name). The whole ledger is fetched and
    every signature in it is verified. `tools` are set up as by `init`. A repeat changes nothing; a
    machine that has left, was revoked or lost its secret joins again and continues its copy.
    """
    from moot.api.workspace.workspaces import JoinedKeeper, init, project_folder
    from moot.hosts.joining import join_workspace, read_invitation

    session.require_no_agent("joining a keeper")
    invited = read_invitation(invitation)
    folder = project_folder(session)
    machine = require_machine_name(name or _machine_name())
    try:
        created = join_workspace(folder, session.keys, invited, machine, _repository(session))
    except Refused as error:
        raise _shallow_clone() if _is_shallow_elsewhere(session, error) else error from None
    session.close(checkpoint=False)  # an open workspace is not the joined one
    session.home = folder
    joined = session.workspace.joined
    if joined is None:
        raise Refused(
            "workspace_exists",
            f"{session.workspace.path} is a workspace with its own ledger",
            hint="join from another clone: two ledgers cannot be merged",
        )
    joined.sync()
    with session.workspace.store.read() as view:
        events = view.newest_position()
    keeper = JoinedKeeper(joined.machine, joined.connection.address, events)
    return msgspec.structs.replace(init(session, tools=tools), created=created, joined=keeper)


@operation("machine.list")
def list_machines(session: Session) -> MachineList:
    """List the machines that share this ledger, or did.

    A joined machine asks the keeper. If that does not answer, the list has only this machine, and
    `why_old` says so.
    """
    workspace = session.workspace
    if workspace.joined is not None:
        return _list_from_keeper(workspace, workspace.joined)
    if workspace.left is not None:
        from moot.hosts.opening import read_joined_file

        file = read_joined_file(workspace.path)
        return MachineList(file.address, (), file.machine, str(workspace.left))
    from moot.hosts.keeper import is_keeper_running
    from moot.hosts.membership import describe_member

    known = _read_address(_keeper_folder(session))
    members = map(describe_member, _members(session).read().machines)
    rows = _list_rows(workspace, tuple(members), None)
    if known is None:
        return MachineList(None, rows)
    return MachineList(known.address, rows, is_kept_now=is_keeper_running(_keeper_folder(session)))


def _list_from_keeper(workspace: Workspace, joined: JoinedLedger) -> MachineList:
    from moot.hosts.membership import list_members

    workspace.engine.registry()  # syncs first: an unreachable keeper is not asked twice
    own, why = workspace.folder.user_folder.custodian, joined.away
    if why is None:
        try:
            shared = list_members(joined.connection)
        except MootError as error:
            why = error
        else:
            rows = _list_rows(workspace, shared, own)
            return MachineList(joined.connection.address, rows, joined.machine)
    agents = _count_agents(workspace, own)
    row = MachineRow(joined.machine, own, None, agents, False, True, version=VERSION)
    return MachineList(joined.connection.address, (row,), joined.machine, str(why))


def _list_rows(
    workspace: Workspace, machines: tuple[MemberInfo, ...], own: str | None
) -> tuple[MachineRow, ...]:
    """Return one row for each machine; one that joined again has its agents in the newest row."""
    newest = {machine.custodian: machine for machine in machines}
    return tuple(
        MachineRow(
            machine.name,
            machine.custodian,
            to_text(machine.joined_at),
            _count_agents(workspace, machine.custodian)
            if newest[machine.custodian] is machine
            else 0,
            machine.gone_at is not None,
            machine.custodian == own and machine.gone_at is None,
            to_text(machine.last_seen) if machine.last_seen else None,
            machine.version,
            machine.has_left,
        )
        for machine in machines
    )


def _count_agents(workspace: Workspace, custodian: str) -> int:
    from moot.core.machine import KeyClass

    registry = workspace.engine.registry()
    keys = (registry.keys[agent.kid] for agent in registry.agents.values())
    return sum(
        (key.custodian, key.kind, key.ending) == (custodian, KeyClass.AGENT, None) for key in keys
    )


@operation("machine.revoke", writes=True)
def revoke_machine(session: Session, name: str) -> MachineRow:
    """Revoke a machine: from now on the keeper refuses its requests.

    What its agents signed stays in the record. If their keys may have been misused, revoke them one
    by one (`moot agent revoke`).
    """
    session.require_no_agent("revoking a machine")
    workspace = session.workspace
    _require_kept_here(workspace)
    revoked = _members(session).revoke(name, workspace.engine.clock())
    return MachineRow(revoked.name, revoked.custodian, to_text(revoked.joined_at), 0, True, False)


def _listen(server: KeeperServer, host: str, port: int, socket_file: Path | None) -> str:
    """Listen at the address or socket; return the address."""
    from moot.hosts.connection import UNIX

    address = f"{host}:{port}" if socket_file is None else f"{UNIX}{socket_file.absolute()}"
    try:
        if socket_file is None:
            return f"{host}:{server.listen_tls(host, port)}"
        server.listen_unix(socket_file.absolute())
        return address
    except OSError as error:
        raise Refused(
            "cannot_listen",
            f"the keeper cannot listen at {address}: {_why(error)}",
            hint="--listen HOST:PORT takes an address of this machine (0.0.0.0: all of them) and a"
            " free port; --listen unix:FILE takes a short path at which no file exists",
        ) from None


def _why(error: OSError) -> str:
    """Return the system's message, without what Python adds to it."""
    import os

    number = error.errno or 0  # negative for errors of name resolution, which have own messages
    return os.strerror(number) if number > 0 else str(error.strerror or error)


def _keeper_folder(session: Session) -> Path:
    from moot.hosts.keeper import FOLDER

    return session.workspace.path / FOLDER


def _members(session: Session) -> MemberFile:
    from moot.hosts.members import MemberFile

    return MemberFile(_keeper_folder(session))


def _write_address(folder: Path, shown: KeeperAddress) -> None:
    from moot.store.files import replace_own_file

    replace_own_file(folder / "address.json", msgspec.json.encode(shown), 0o600)


def _read_address(folder: Path) -> KeeperAddress | None:
    try:
        return msgspec.json.decode((folder / "address.json").read_bytes(), type=KeeperAddress)
    except (OSError, msgspec.DecodeError):
        return None


def _repository(session: Session) -> str:
    """Return the first commit, by which two clones of one repository are recognized."""
    from moot.system.git_commands import find_root_commit

    return find_root_commit(session.folder) or ""


def _require_address(address: str | None) -> None:
    """Raise Unavailable (`bad_address`) if the address is not valid."""
    from moot.hosts.connection import UNIX, read_address

    if address is not None and not address.startswith(f"{UNIX}/"):
        read_address(address)


def is_local_address(address: str) -> bool:
    """Return True for a Unix socket or loopback address: no other machine can connect to it."""
    from ipaddress import ip_address

    from moot.hosts.connection import UNIX

    host = address.rpartition(":")[0].strip("[]")
    if address.startswith(UNIX) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def _require_reachable(address: str) -> None:
    host, _, port = address.rpartition(":")
    if host in EVERYWHERE:
        raise Refused(
            "no_address",
            f"the keeper listens at {host}, to which no other machine can connect",
            hint=f"name the address that others use: `moot invite --address HOST:{port}`, or for"
            f" all invitations `moot keep --listen {host}:{port} --address HOST:{port}`",
        )


def _is_shallow_elsewhere(session: Session, error: Refused) -> bool:
    from moot.system.git_commands import is_shallow

    return error.code == "another_repository" and is_shallow(session.folder)


def _shallow_clone() -> Refused:
    return Refused(
        "another_repository",
        "this is a shallow clone: Moot cannot tell whether it is of the same repository",
        hint="run `git fetch --unshallow`, then join again",
    )


def _machine_name() -> str:
    import platform

    name = re.sub(r"[^a-z0-9]+", "-", platform.node().partition(".")[0].lower()).strip("-")
    name = name[:MOST_NAME].rstrip("-")
    return name if len(name) >= 3 else f"machine-{name or 'one'}"


def _require_kept_here(workspace: Workspace) -> None:
    if workspace.left is not None:
        raise workspace.left
    if workspace.joined is not None:
        raise Refused(
            "kept_elsewhere",
            f"this ledger is kept at {workspace.joined.connection.address}",
            hint="run this on the machine that keeps it",
        )


class SharedLedger(msgspec.Struct, frozen=True):
    """`keeper`, `here`, `machines` and `is_kept_now` are as in MachineList. `why_old` says why the
    data may be old: the keeper did not answer or has another history, or this machine has left."""

    keeper: str
    here: str | None
    keeper_version: str | None
    machines: tuple[MachineRow, ...]
    why_old: str | None
    is_kept_now: bool | None = None


def describe_sharing(session: Session) -> SharedLedger | None:
    """Return how the ledger is shared with other machines; None if it is not."""
    workspace = session.workspace
    joined = workspace.joined
    if joined is None and workspace.left is None and not (workspace.path / "keeper").exists():
        return None
    listed = list_machines(session)
    if listed.keeper is None:
        return None
    why = session.why_old()
    return SharedLedger(
        listed.keeper,
        listed.here,
        (None if workspace.left else VERSION)
        if joined is None
        else joined.connection.keepers_version,
        listed.machines,
        None if why is None else str(why),
        listed.is_kept_now,
    )
