"""A machine that its keeper knows no more, although keys of its key folder are on record: the list
of machines was lost. Both sides of how it is believed.

Which key folder a machine has is what it says of itself. Without the list, an invited machine could
say that it has another machine's, and retire its agents. So a key of that folder signs for it.
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
from moot.hosts import messages as ask
from moot.hosts.connection import ConnectionLost, connect
from moot.hosts.members import hash_code, joining_statement, prove_invitation
from moot.hosts.opening import JoinedFile, MachineSecret, check_keeper, secret_place
from moot.hosts.replica import KeeperConnection, Membership, keeper_away
from moot.keys.folder import KeyFolder
from moot.store.files import replace_own_file, sync_folder, write_new_file
from moot.store.sqlite import SqliteStore
from moot.workspace import trust as trust_files
from moot.workspace.create import choose_mode, not_created
from moot.workspace.find import FOLDER, JOINED, is_joined
from moot.workspace.known_workspaces import remember_place

MOST_KEYS: Final = 100  # as many signatures as a hello has room for


def prove_rejoin(signers: Iterable[Signer], origin: str, question: ask.Join) -> ask.HeldKeys:
    """A machine's side: what its agents' keys sign of this question."""
    statement = _make_statement(origin, question)
    some = list(signers)[:MOST_KEYS]
    return tuple((signer.kid, signer.sign(RETURN, statement)) for signer in some)


def is_rejoin_proven(registry: Registry, question: ask.Join) -> bool:
    """True if a key that is valid now, of the key folder that the machine says it has, signed."""
    statement = _make_statement(registry.origin, question)
    for kid, signature in question.held[:MOST_KEYS]:
        key = registry.valid_key(kid)
        if key is None or (key.custodian, key.kind) != (question.custodian, KeyClass.AGENT):
            continue
        if verify(public_key(key.public), RETURN, statement, signature):
            return True
    return False


def _make_statement(origin: str, question: ask.Join) -> bytes:
    """It names the invitation, so that the proof cannot be used again."""
    return canonical(
        {
            "custodian": question.custodian,
            "invitation": question.invitation,
            "machine": question.machine,
            "origin": origin,
            "repository": question.repository,
        }
    )


# Joining a ledger that is kept elsewhere: the invitation, and the workspace that is made of it.

JOIN_SECONDS: Final = 10.0
# Fingerprint, id and code of an invitation: one that was cut short is told from a wrong one.
_SECRETS: Final = re.compile(r"[0-9a-f]{32}#[0-9a-f]{8}#[0-9a-f]{32}")
_NOBODY_THERE: Final = (
    "see that `moot keep` runs there, that this address leads to it from here, and that no firewall"
    " is in between; then join again"
)


class Invitation(msgspec.Struct, frozen=True):
    """What `moot invite` prints, as one word: ADDRESS#FINGERPRINT#ID#CODE."""

    address: str
    fingerprint: str
    id: str
    code: str

    @property
    def text(self) -> str:
        return f"{self.address}#{self.fingerprint}#{self.id}#{self.code}"


def read_invitation(text: str) -> Invitation:
    parts = text.strip().rsplit("#", 3)  # the path of a socket may hold one, too
    if len(parts) != 4 or not parts[0] or not _SECRETS.fullmatch("#".join(parts[1:])):
        raise Malformed(
            "this is no invitation",
            code="bad_invitation",
            hint="`moot invite` prints one, where the ledger is kept: take the whole line",
        )
    return Invitation(*parts)


def join_workspace(
    root: Path, folder: KeyFolder, invitation: Invitation, machine: str, repository: str
) -> bool:
    """Make `.moot/` in `root` with a copy of the ledger that is kept elsewhere; False if there is
    one whose keeper knows this machine. If it does not any more, the copy that is there goes on. A
    workspace is whole or absent, whenever the process dies."""
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
            "this key folder is the one of the machine that keeps the ledger",
            hint="another machine has a key folder of its own; MOOT_KEYS names one",
        )
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    _keep_secret(folder, origin, answer)
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
    """Go on with the copy of a machine that has left, was taken off, or lost its secret; False if
    its keeper knows it: then there is nothing to do."""
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
        _take_back(invitation, machine, answer)
        raise Refused(
            "another_ledger",
            f"{place} holds the copy of another ledger than the one you are invited to",
            hint="join from another clone, or move that folder away first; the invitation is used",
        )
    _keep_secret(folder, origin, answer)
    joined = JoinedFile(invitation.address, invitation.fingerprint, machine)
    replace_own_file(place / JOINED, msgspec.json.encode(joined))
    return True


def _is_member(place: Path, folder: KeyFolder, origin: str) -> bool:
    try:
        check_keeper(place, folder, origin)
    except MootError:  # if that is because nobody answers, asking to join says so
        return False
    return True


def _list_signers(folder: KeyFolder, origin: str) -> list[Signer]:
    """The agents whose keys are here, and can be read."""
    signers = []
    for name, kid in folder.list_keys(origin):
        with suppress(MootError):
            key = folder.read_key(origin, name, kid)
            if key is not None and key.kind is KeyClass.AGENT and key.locked is None:
                signers.append(key.open(None))
    return signers


def _take_back(invitation: Invitation, machine: str, answer: ask.Joined) -> None:
    """Leave at once what was joined by mistake."""
    member = Membership(invitation.address, invitation.fingerprint, machine, answer.secret)
    connection = KeeperConnection(member)
    with suppress(MootError):  # an older keeper, or none: its user sees an idle machine
        connection.ask(ask.Leave(), ask.Done)
    connection.close()


def _keep_secret(folder: KeyFolder, origin: str, answer: ask.Joined) -> None:
    secret = msgspec.json.encode(MachineSecret(answer.secret.hex()))
    replace_own_file(secret_place(folder, origin), secret, 0o600)


def _ask_to_join(
    invitation: Invitation,
    custodian: str,
    machine: str,
    repository: str,
    prove: Callable[[ask.Join], ask.HeldKeys] = lambda _: (),
) -> ask.Joined:
    """`prove` shows that this key folder has joined before."""
    statement = joining_statement(machine, custodian, repository)
    proof = prove_invitation(hash_code(invitation.code), statement)
    question = ask.Join(ask.VERSION, machine, custodian, repository, invitation.id, proof)
    question = msgspec.structs.replace(question, held=prove(question))
    try:
        connection = connect(invitation.address, invitation.fingerprint)
        try:
            connection.send(ask.encode(question), JOIN_SECONDS)
            answer = ask.decode_answer(connection.receive(JOIN_SECONDS))
        finally:
            connection.close()
    except ConnectionLost as error:
        raise keeper_away(invitation.address, str(error), _NOBODY_THERE) from None
    if isinstance(answer, ask.Failed):
        raise ask.raise_failure(answer)
    if not isinstance(answer, ask.Joined):
        raise StoreFailed("bad_answer", "the keeper answered something else", hint="try again")
    return answer
