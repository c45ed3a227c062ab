"""Several machines on one ledger: keeping it for others, inviting them, joining, taking one off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.core.clock import to_text
from moot.core.errors import Malformed, Refused, Tampered
from moot.core.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from moot.api.session import Session
    from moot.api.workspaces import MadeWorkspace
    from moot.keeper.members import MemberFile
    from moot.workspace.joined import JoinedLedger
    from moot.workspace.joining import Invitation

PORT: Final = 7417
LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = ("0.0.0.0", "::")
MOST_NAME: Final = 48
# A machine that is told this by its keeper may join once more.
NOT_KNOWN_THERE: Final = ("machine_revoked", "machine_unknown", "another_keeper")


class KeeperAddress(msgspec.Struct, frozen=True):
    """Where a keeper is reached, and what its certificate is known by."""

    address: str
    fingerprint: str


class InvitedMachine(msgspec.Struct, frozen=True):
    """`invitation` is one word for `moot init --join`; it is good for one machine, once."""

    invitation: str
    address: str
    fingerprint: str
    expires_at: str


class MachineRow(msgspec.Struct, frozen=True):
    """A machine, the id of its key folder as the record names it, and whether it may still ask."""

    name: str
    custodian: str
    joined_at: str | None
    agents: int
    is_revoked: bool
    here: bool
    last_seen_at: str | None = None
    version: str = ""


class MachineList(msgspec.Struct, frozen=True):
    """`keeper` is where the ledger is kept, as seen from here; None: on this machine alone."""

    keeper: str | None
    machines: tuple[MachineRow, ...]


@contextmanager
def keep(
    session: Session, host: str = LOOPBACK, port: int = PORT, address: str | None = None
) -> Iterator[KeeperAddress]:
    """Keep this workspace's ledger for other machines, while the block lasts.

    `address` is what the others reach it by, if that is not HOST:PORT. Refused as
    `human_key_required` to an agent, and as `kept_elsewhere` on a machine that has joined.
    """
    from moot.keeper.keeping import Keeping

    session.require_no_agent("keeping the ledger for others")
    workspace = session.workspace
    if workspace.joined is not None:
        raise _kept_elsewhere(workspace.joined.line.address)
    _require_address(address)
    folder = _keeper_folder(session)
    keeping = Keeping(
        workspace.engine,
        workspace.artifacts,
        folder,
        (workspace.path / "trust.json").read_bytes(),
        _repository(session),
    )
    try:
        chosen = _listen(keeping, host, port)
        shown = KeeperAddress(address or f"{host}:{chosen}", keeping.fingerprint)
        _write_address(folder, shown)
        yield shown
    finally:
        keeping.close()


@operation("invite", writes=True)
def invite(session: Session, *, hours: int = 24, address: str | None = None) -> InvitedMachine:
    """One word that lets one more machine join; it expires, and is good once.

    A machine that joined registers agents of its own and signs with their keys; a person's key
    needs a person's consent as ever. Refused as `not_kept` before `moot keep` has run here.
    """
    from moot.keeper.members import HOUR
    from moot.workspace.joining import Invitation

    session.require_no_agent("inviting a machine")
    workspace = session.workspace
    if workspace.joined is not None:
        raise _kept_elsewhere(workspace.joined.line.address)
    if not 1 <= hours <= 24 * 30:
        raise Malformed("an invitation is good for 1 to 720 hours", code="bad_hours")
    known = _read_address(_keeper_folder(session))
    if known is None:
        raise Refused(
            "not_kept",
            "nobody could join yet: no keeper has run here",
            hint="start it first: `moot keep`",
        )
    _require_address(address)
    shown = address or known.address
    _require_reachable(shown)
    now = workspace.engine.clock()
    identity, code = _members(session).invite(now, hours)
    invitation = Invitation(shown, known.fingerprint, identity, code)
    return InvitedMachine(invitation.text, shown, known.fingerprint, to_text(now + hours * HOUR))


@operation("init.join", writes=True, runs_programs=True)
def join_keeper(
    session: Session, invitation: str, *, name: str | None = None, tools: Sequence[str] = ()
) -> MadeWorkspace:
    """Make a workspace whose ledger is kept elsewhere, with a verified copy of it here.

    `name` is what this machine is called there (default: its host name). The whole ledger is
    fetched and every signature in it verified. `tools` are set up as `init` does. A repeat changes
    nothing, unless the keeper does not know this machine any more: then it joins once more, and
    keeps its copy.
    """
    from moot.api.workspaces import JoinedKeeper, init
    from moot.workspace.find import FOLDER, project_root
    from moot.workspace.joining import read_invitation

    session.require_no_agent("joining a keeper")
    invited = read_invitation(invitation)
    home = session.home or project_root(session.folder)
    folder = home.parent if home.name == FOLDER else home
    machine = name or _machine_name()
    try:
        created, joined = _join(session, folder, invited, machine)
    except Refused as error:
        raise _shallow_clone() if _is_shallow_elsewhere(session, error) else error from None
    with session.workspace.store.read() as view:
        events = view.newest_position()
    keeper = JoinedKeeper(joined.machine, joined.line.address, events)
    return msgspec.structs.replace(init(session, tools=tools), created=created, joined=keeper)


def _join(
    session: Session, folder: Path, invited: Invitation, machine: str
) -> tuple[bool, JoinedLedger]:
    """Whether a workspace was made, and its ledger, up to date. One that joined before and that its
    keeper does not know any more joins once more."""
    from moot.workspace.joining import join_workspace, renew_membership

    repository = _repository(session)
    created = join_workspace(folder, session.keys, invited, machine, repository)
    session.home = folder
    try:
        joined = _joined_here(session)
        joined.follow()
    except (Refused, Tampered) as error:
        if created or error.code not in NOT_KNOWN_THERE:
            raise
        place = session.workspace.path
        session.close()
        renew_membership(place, session.keys, invited, machine, repository)
        joined = _joined_here(session)
        joined.follow()
    return created, joined


def _joined_here(session: Session) -> JoinedLedger:
    joined = session.workspace.joined
    if joined is None:
        raise Refused(
            "workspace_exists",
            f"{session.workspace.path} is a workspace of its own",
            hint="join from another clone: two ledgers cannot become one",
        )
    return joined


@operation("machine.list")
def list_machines(session: Session) -> MachineList:
    """The machines that share this ledger. A machine that joined knows itself and the keeper."""
    workspace = session.workspace
    registry = workspace.engine.registry()
    own = workspace.folder.user_folder.custodian

    def agents_of(custodian: str) -> int:
        return sum(
            registry.keys[agent.kid].custodian == custodian for agent in registry.agents.values()
        )

    joined = workspace.joined
    if joined is not None:
        row = MachineRow(joined.machine, own, None, agents_of(own), False, True, version=VERSION)
        return MachineList(joined.line.address, (row,))
    rows = tuple(
        MachineRow(
            member.name,
            member.custodian,
            to_text(member.joined_at),
            agents_of(member.custodian),
            member.revoked_at is not None,
            False,
            to_text(member.last_seen) if member.last_seen else None,
            member.version,
        )
        for member in _members(session).read().machines
    )
    known = _read_address(_keeper_folder(session))
    return MachineList(None if known is None else known.address, rows)


@operation("machine.revoke", writes=True)
def revoke_machine(session: Session, name: str) -> MachineRow:
    """Take a machine off: from now on it can ask the keeper nothing.

    What its agents signed stays on record; their keys are revoked one by one
    (`moot agent revoke`), if they may have been misused.
    """
    session.require_no_agent("taking a machine off")
    workspace = session.workspace
    if workspace.joined is not None:
        raise _kept_elsewhere(workspace.joined.line.address)
    gone = _members(session).revoke(name, workspace.engine.clock())
    return MachineRow(gone.name, gone.custodian, to_text(gone.joined_at), 0, True, False)


def _listen(keeping: object, host: str, port: int) -> int:
    from moot.keeper.keeping import Keeping

    assert isinstance(keeping, Keeping)
    try:
        return keeping.listen(host, port)
    except OSError as error:
        raise Refused(
            "cannot_listen",
            f"nothing can listen at {host}:{port}: {_why(error)}",
            hint="--listen HOST:PORT names an address of this machine (0.0.0.0: all of them) and a"
            " port that nobody has",
        ) from None


def _why(error: OSError) -> str:
    """Without what Python adds to it."""
    import os

    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return str(error.strerror or error)


def _keeper_folder(session: Session) -> Path:
    from moot.keeper.keeping import FOLDER

    return session.workspace.path / FOLDER


def _members(session: Session) -> MemberFile:
    from moot.keeper.members import MemberFile

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
    """What makes two clones one repository: its first commit."""
    from moot.system.git_questions import find_root_commit

    return find_root_commit(session.folder) or ""


def _require_address(address: str | None) -> None:
    """Unavailable (`bad_address`) if others could look up nothing by it."""
    from moot.keeper.line import read_address

    if address is not None:
        read_address(address)


def _require_reachable(address: str) -> None:
    host, _, port = address.rpartition(":")
    if host in EVERYWHERE:
        raise Refused(
            "no_address",
            f"the keeper listens everywhere ({host}), which no other machine can connect to",
            hint=f"say what others reach it by: `moot invite --address HOST:{port}`, or once and"
            f" for all `moot keep --listen {host}:{port} --address HOST:{port}`",
        )


def _is_shallow_elsewhere(session: Session, error: Refused) -> bool:
    from moot.system.git_questions import is_shallow

    return error.code == "another_repository" and is_shallow(session.folder)


def _shallow_clone() -> Refused:
    return Refused(
        "another_repository",
        "this clone has only the newest commits: whether it is of the same repository is unknown",
        hint="`git fetch --unshallow`, then join again",
    )


def _machine_name() -> str:
    import platform
    import re

    name = re.sub(r"[^a-z0-9]+", "-", platform.node().partition(".")[0].lower()).strip("-")
    name = name[:MOST_NAME].rstrip("-")
    return name if len(name) >= 3 else f"machine-{name or 'one'}"


def _kept_elsewhere(address: str) -> Refused:
    return Refused(
        "kept_elsewhere",
        f"this ledger is kept at {address}",
        hint="do this on the machine that keeps it",
    )
