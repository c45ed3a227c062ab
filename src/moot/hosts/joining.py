"""Join a ledger that is kept on another machine, and join again after the keeper lost its list.

A machine itself says which key folder it has. If the keeper lost its list of machines, an invited
machine could name another machine's key folder and retire its agents. So it must also sign with a
key of that folder (`prove_rejoin`).
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moot.core.canonical import canonical
from moot.core.errors import Malformed, MootError, Refused, StoreFailed
from moot.core.machine import KeyClass
from moot.core.names import SYSTEM
from moot.core.registry.model import State as Registry
from moot.core.signing import RETURN, Signer, public_key, verify
from moot.hosts import messages as wire
from moot.hosts.connection import ConnectionLost, connect
from moot.hosts.members import hash_code, joining_statement, prove_invitation
from moot.hosts.opening import JoinedFile, MachineSecret, check_keeper, secret_path
from moot.hosts.replica import KeeperConnection, Membership, keeper_away
from moot.keys.folder import KeyFolder
from moot.store.files import replace_own_file, sync_folder, write_new_file
from moot.store.sqlite import SqliteStore
from moot.workspace import trust as trust_files
from moot.workspace.create import choose_mode, not_created
from moot.workspace.find import FOLDER, JOINED, is_joined
from moot.workspace.known_workspaces import remember_place

MOST_KEYS: Final = 100  # signatures that fit into the first message


def prove_rejoin(signers: Iterable[Signer], origin: str, question: wire.Join) -> wire.HeldKeys:
    """Sign the question with the agents' keys of this key folder (called by the machine)."""
    statement = _make_statement(origin, question)
    return tuple(
        (signer.kid, signer.sign(RETURN, statement)) for signer in list(signers)[:MOST_KEYS]
    )


def is_rejoin_proven(registry: Registry, question: wire.Join) -> bool:
    """Return whether a valid agent key of the named key folder signed (called by the keeper)."""
    statement = _make_statement(registry.origin, question)
    for kid, signature in question.held[:MOST_KEYS]:
        key = registry.valid_key(kid)
        if key is None or (key.custodian, key.kind) != (question.custodian, KeyClass.AGENT):
            continue
        if verify(public_key(key.public), RETURN, statement, signature):
            return True
    return False


def _make_statement(origin: str, question: wire.Join) -> bytes:
    """Build the bytes to sign. They name the invitation, so that a proof works only once."""
    return canonical(
        {
            "custodian": question.custodian,
            "invitation": question.invitation,
            "machine": question.machine,
            "origin": origin,
            "repository": question.repository,
        }
    )


JOIN_SECONDS: Final = 10.0
# Fingerprint, id and code, by length: tells an invitation that was cut short from a wrong one.
_SECRETS: Final = re.compile(r"[0-9a-f]{32}#[0-9a-f]{8}#[0-9a-f]{32}")
_UNREACHABLE_HINT: Final = (
    "check that `moot keep` runs there and that this machine can reach the address (firewall, DNS),"
    " then join again"
)


class Invitation(msgspec.Struct, frozen=True):
    """What `moot invite` prints: ADDRESS#FINGERPRINT#ID#CODE."""

    address: str
    fingerprint: str
    id: str
    code: str

    @property
    def text(self) -> str:
        return f"{self.address}#{self.fingerprint}#{self.id}#{self.code}"


def read_invitation(text: str) -> Invitation:
    parts = text.strip().rsplit("#", 3)  # from the right: a socket's path may contain "#"
    if len(parts) != 4 or not parts[0] or not _SECRETS.fullmatch("#".join(parts[1:])):
        raise Malformed(
            "this is not a complete invitation",
            code="bad_invitation",
            hint="copy the whole line that `moot invite` prints where the ledger is kept",
        )
    return Invitation(*parts)


def join_workspace(
    root: Path, folder: KeyFolder, invitation: Invitation, machine: str, repository: str
) -> bool:
    """Join the invitation's ledger: make `.moot/` in `root` with a copy of it.

    Returns False if the workspace exists and its keeper knows this machine. If the keeper does not,
    the machine joins again and keeps its copy. A crash leaves a complete workspace or none.
    """
    place = root / FOLDER
    if place.exists():
        return is_joined(place) and _rejoin(place, folder, invitation, machine, repository)
    folder.require_own("this machine's secret")
    answer = _ask_to_join(invitation, folder.custodian, machine, repository)
    trust_file = trust_files.parse_trust_file(answer.trust)
    origin = trust_file.origin
    own = folder.ledger_folder(origin)
    if any(name == SYSTEM for name, _ in folder.list_keys(origin)):
        raise Refused(
            "same_key_folder",
            "this key folder belongs to the machine that keeps the ledger",
            hint="each machine needs its own key folder; set MOOT_KEYS to another one",
        )
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write_secret(folder, origin, answer)
    with suppress(FileExistsError):
        write_new_file(own / "trust.json", answer.trust, 0o600)
    fresh = root / f"{FOLDER}.new-{secrets.token_hex(6)}"
    try:
        fresh.mkdir(mode=choose_mode(root))
        SqliteStore(fresh / "ledger.db", create=True).close()
        (fresh / "artifacts").mkdir()
        write_new_file(fresh / ".gitignore", b"*\n")
        write_new_file(fresh / "trust.json", answer.trust)
        joined = JoinedFile(invitation.address, invitation.fingerprint, machine)
        write_new_file(fresh / JOINED, msgspec.json.encode(joined))
        os.rename(fresh, place)
        sync_folder(root)
    except OSError as error:
        if place.exists():
            return False
        raise not_created(root, error) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    remember_place(folder.path, root, origin)
    return True


def _rejoin(
    place: Path, folder: KeyFolder, invitation: Invitation, machine: str, repository: str
) -> bool:
    """Join again with the copy of a machine that left, was removed or lost its secret.

    Returns False if its keeper still knows it: then there is nothing to do.
    """
    known = trust_files.read_trust_file(place / "trust.json")
    origin = known.origin
    if _is_member(place, folder, origin):
        return False
    folder.require_own("this machine's secret")
    answer = _ask_to_join(
        invitation,
        folder.custodian,
        machine,
        repository,
        lambda question: prove_rejoin(_list_signers(folder, origin), origin, question),
    )
    if trust_files.parse_trust_file(answer.trust).trust() != known.trust():
        _undo_join(invitation, machine, answer)
        raise Refused(
            "another_ledger",
            f"{place} is a copy of another ledger than the invitation's",
            hint="join from another clone, or move that folder away; this needs a new invitation",
        )
    _write_secret(folder, origin, answer)
    joined = JoinedFile(invitation.address, invitation.fingerprint, machine)
    replace_own_file(place / JOINED, msgspec.json.encode(joined))
    return True


def _is_member(place: Path, folder: KeyFolder, origin: str) -> bool:
    try:
        check_keeper(place, folder, origin)
    except MootError:  # an unreachable keeper: the request to join reports it
        return False
    return True


def _list_signers(folder: KeyFolder, origin: str) -> list[Signer]:
    """Return the agents' keys of this key folder that are readable and not locked."""
    signers = []
    for name, kid in folder.list_keys(origin):
        with suppress(MootError):
            key = folder.read_key(origin, name, kid)
            if key is not None and key.kind is KeyClass.AGENT and key.locked is None:
                signers.append(key.open(None))
    return signers


def _undo_join(invitation: Invitation, machine: str, answer: wire.Joined) -> None:
    """Leave the ledger that was joined by mistake."""
    member = Membership(invitation.address, invitation.fingerprint, machine, answer.secret)
    connection = KeeperConnection(member)
    with suppress(MootError):  # an older or stopped keeper: its list shows an idle machine
        connection.ask(wire.Leave(), wire.Done)
    connection.close()


def _write_secret(folder: KeyFolder, origin: str, answer: wire.Joined) -> None:
    secret = msgspec.json.encode(MachineSecret(answer.secret.hex()))
    replace_own_file(secret_path(folder, origin), secret, 0o600)


def _ask_to_join(
    invitation: Invitation,
    custodian: str,
    machine: str,
    repository: str,
    prove: Callable[[wire.Join], wire.HeldKeys] = lambda _: (),
) -> wire.Joined:
    """Send the request to join. `prove` signs that this key folder has joined before."""
    statement = joining_statement(machine, custodian, repository)
    proof = prove_invitation(hash_code(invitation.code), statement)
    question = wire.Join(wire.VERSION, machine, custodian, repository, invitation.id, proof)
    question = msgspec.structs.replace(question, held=prove(question))
    try:
        connection = connect(invitation.address, invitation.fingerprint)
        try:
            connection.send(wire.encode(question), JOIN_SECONDS)
            answer = wire.decode_answer(connection.receive(JOIN_SECONDS))
        finally:
            connection.close()
    except ConnectionLost as error:
        raise keeper_away(invitation.address, str(error), _UNREACHABLE_HINT) from None
    if isinstance(answer, wire.Failed):
        raise wire.unpack_error(answer)
    if not isinstance(answer, wire.Joined):
        raise StoreFailed("bad_answer", "the keeper sent an unexpected answer", hint="try again")
    return answer
