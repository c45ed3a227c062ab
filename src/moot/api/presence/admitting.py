"""Admit a person whose key is on another machine.

Their machine makes the locked key and prints an admission code (`moot agent register NAME
--human`). A registered person checks it on the machine with their own key, and consents.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.operation import operation
from moot.api.presence.agents import NewAgent, RegisteredAgent, describe_agent
from moot.core.clock import to_text
from moot.core.errors import Malformed, Refused
from moot.core.findings import select_errors
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import AGENT, REGISTRY, SYSTEM
from moot.core.registry.machine import MACHINE
from moot.core.registry.model import (
    ORIGIN_PREFIX,
    AddKey,
    is_proof_valid,
    key_statement,
    sign_endorsement,
    sign_proof,
)
from moot.core.signing import Signer, key_id

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.engine.engine import Engine
    from moot.keys.folder import KeyFolder


WAITING: Final = "waiting"


class AdmissionPreview(msgspec.Struct, frozen=True):
    """Who asks to be admitted as a person. `machine` is the name of the machine with the key, if
    known; people compare `fingerprint` with the one shown there."""

    name: str
    custodian: str
    machine: str | None
    fingerprint: str
    is_admitted: bool


class AdmittedPerson(RegisteredAgent, frozen=True, kw_only=True):
    """A person who was admitted. `by` consented; None if the person was admitted before."""

    machine: str | None
    fingerprint: str
    by: str | None


def needs_admission(session: Session) -> bool:
    """Return True if a person's key that is made here needs the consent of a person elsewhere.

    Refused on a joined machine while no person is registered: the first person must be the owner of
    the ledger.
    """
    from moot.hosts.ledger_signing import person_needs_consent

    session.require_no_agent("making a person's key")
    workspace = session.workspace
    people = workspace.engine.registry().human_keys()
    if workspace.joined is not None and not people:
        raise person_needs_consent(workspace.engine.registry())
    is_shared = workspace.joined is not None or (workspace.path / "keeper").exists()
    may_consent = (key for key in people if session.acting in (None, key.name))
    origin = workspace.trust.origin
    is_here = any(
        session.keys.read_key(origin, key.name, key.kid) is not None for key in may_consent
    )
    return bool(people) and is_shared and not is_here


def ask_for_admission(session: Session, name: str, folder: KeyFolder, passphrase: str) -> NewAgent:
    """Make a person's locked key, which is registered once a person elsewhere consents.

    Until then the same name and passphrase give the same code again.
    """
    from moot.api.presence.arrival import new_key

    workspace = session.workspace
    origin = workspace.trust.origin
    waiting = _find_waiting_key(session, name, folder, passphrase)
    if waiting is not None:
        admission = make_admission(origin, name, waiting, folder.custodian)
        require_admissible(workspace.engine, admission)
    else:
        with new_key(workspace, name, folder, KeyClass.HUMAN, passphrase) as signer:
            admission = make_admission(origin, name, signer, folder.custodian)
            require_admissible(workspace.engine, admission)
    return NewAgent(
        agent=name,
        kind=str(KeyClass.HUMAN),
        status=WAITING,
        epoch=admission.epoch,
        kid=admission.kid,
        public=admission.public,
        custodian=admission.custodian,
        since=to_text(workspace.engine.clock()),
        admission=admission.text,
        fingerprint=admission.fingerprint,
    )


def _find_waiting_key(
    session: Session, name: str, folder: KeyFolder, passphrase: str
) -> Signer | None:
    """Return a key of this person that is here and not registered, if this passphrase opens it."""
    origin, known = session.workspace.trust.origin, session.workspace.engine.registry().keys
    for owner, kid in folder.list_keys(origin):
        if owner != name or kid in known:
            continue
        file = folder.read_key(origin, name, kid)
        if file is not None and file.kind is KeyClass.HUMAN and file.locked is not None:
            try:
                return file.open(passphrase)
            except Refused:  # of an earlier attempt, with another passphrase
                continue
    return None


def preview_admission(session: Session, code: str) -> AdmissionPreview:
    """Return who asks and with which key; raise Refused if the code is for another ledger."""
    admission = _read_for_this_ledger(session, code)
    return AdmissionPreview(
        admission.name,
        admission.custodian,
        _find_machine(session, admission.custodian),
        admission.fingerprint,
        _is_admitted(session, admission),
    )


@operation("admit", writes=True)
def admit(session: Session, word: str, *, key: str | None = None) -> AdmittedPerson:
    """Admit a person whose key is on another machine: `word` is the code that machine printed.

    A registered person unlocks their key here and consents to exactly this key, name and custodian;
    from then on it signs there. Refused to agents, for a code of another ledger, and if the name
    was registered meanwhile. A repeat changes nothing.
    """
    session.require_no_agent("admitting a person")
    admission, engine = _read_for_this_ledger(session, word), session.workspace.engine
    by: str | None = None
    if not _is_admitted(session, admission):
        require_admissible(engine, admission)
        by, signer = _require_consenting_person(session)
        engine.execute(REGISTRY, admission.command(signer), SYSTEM, key=key)
    return AdmittedPerson(
        **msgspec.structs.asdict(describe_agent(engine.registry(), admission.name)),
        machine=_find_machine(session, admission.custodian),
        fingerprint=admission.fingerprint,
        by=by,
    )


def _read_for_this_ledger(session: Session, code: str) -> Admission:
    session.require_workspace()
    admission = read_admission(code)
    if admission.origin != session.workspace.trust.origin:
        raise Refused(
            "another_ledger",
            f"{admission.name} asks to be admitted to another ledger",
            hint="run this in a clone that uses their ledger; `moot trust show` names this one",
        )
    return admission


def _is_admitted(session: Session, admission: Admission) -> bool:
    known = session.workspace.engine.registry().keys.get(admission.kid)
    return known is not None and (known.name, known.kind) == (admission.name, KeyClass.HUMAN)


def _require_consenting_person(session: Session) -> tuple[str, Signer]:
    """Return the person who consents, with their key."""
    signer = session.person_signer()
    if signer is not None:
        return session.workspace.engine.registry().keys[signer.kid].name, signer
    hint = "run this on a machine with a person's key; `moot agent list` shows who is a person"
    if not session.has_people():
        hint = "first run `moot agent register NAME --human` on the machine that keeps the ledger"
    raise Refused(
        "human_key_required",
        "only a registered person can admit a person, and no person's key is here",
        hint=hint,
    )


def _find_machine(session: Session, custodian: str) -> str | None:
    """Return the current name of the machine with this key folder."""
    from moot.api.hosts.machines import list_machines

    rows = [row for row in list_machines(session).machines if row.custodian == custodian]
    rows.sort(key=lambda row: not row.is_revoked)
    return rows[-1].name if rows else None


# The admission code, NAME#BASE64: all that a person elsewhere signs, and nothing secret. Comparing
# the fingerprint shows whether it was changed on its way.

MOST_CHARACTERS: Final = 400
VERSION: Final = 1
_CONSENT: Final = "REG-16"  # the rule that asks for it


class _PackedAdmission(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What the code contains after the name."""

    version: int
    ledger: bytes
    epoch: int
    public: bytes
    custodian: bytes
    proof: bytes


class Admission(msgspec.Struct, frozen=True):
    """A person who asks to be admitted: their name, key and custodian, and the ledger."""

    origin: str
    name: str
    epoch: int
    public: str
    custodian: str
    proof: str

    @property
    def kid(self) -> str:
        return key_id(bytes.fromhex(self.public))

    @property
    def fingerprint(self) -> str:
        """What two people compare by voice: enough of the key's id that it cannot be imitated."""
        return " ".join(self.kid[at : at + 4] for at in range(0, 20, 4))

    @property
    def statement(self) -> bytes:
        """What the key itself and the consenting person sign."""
        return key_statement(
            origin=self.origin,
            name=self.name,
            kind=KeyClass.HUMAN,
            epoch=self.epoch,
            public=self.public,
            custodian=self.custodian,
        )

    @property
    def text(self) -> str:
        packed = _PackedAdmission(
            VERSION,
            bytes.fromhex(self.origin.removeprefix(ORIGIN_PREFIX)),
            self.epoch,
            bytes.fromhex(self.public),
            bytes.fromhex(self.custodian),
            bytes.fromhex(self.proof),
        )
        rest = base64.urlsafe_b64encode(msgspec.msgpack.encode(packed)).rstrip(b"=")
        return f"{self.name}#{rest.decode()}"

    def command(self, consenting: Signer | None = None) -> AddKey:
        """Return the command that registers the key, with the consent of a person."""
        consent = sign_endorsement(consenting, self.statement) if consenting else None
        return AddKey(
            name=self.name,
            kind=KeyClass.HUMAN,
            public=self.public,
            custodian=self.custodian,
            proof=self.proof,
            endorsement=consent,
            epoch=self.epoch,
        )


def make_admission(origin: str, name: str, signer: Signer, custodian: str) -> Admission:
    admission = Admission(origin, name, 1, signer.public.hex(), custodian, "")
    return msgspec.structs.replace(admission, proof=sign_proof(signer, admission.statement))


def read_admission(text: str) -> Admission:
    """Read an admission code; raise Malformed unless it is complete and its key has signed it."""
    text = text.strip()
    name, _, rest = text.partition("#")
    if len(text) > MOST_CHARACTERS or not AGENT.match(name):
        raise _bad_code("this is not an admission code of `moot agent register NAME --human`")
    try:
        data = base64.b64decode(rest + "=" * (-len(rest) % 4), b"-_", validate=True)
        packed = msgspec.msgpack.decode(data, type=_PackedAdmission)
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        raise _bad_code("the admission code is damaged") from None
    if packed.version != VERSION:
        raise _bad_code("another version of Moot made this admission code")
    admission = Admission(
        ORIGIN_PREFIX + packed.ledger.hex(),
        name,
        packed.epoch,
        packed.public.hex(),
        packed.custodian.hex(),
        packed.proof.hex(),
    )
    if not _is_signed_by_its_key(admission):
        raise _bad_code("the admission code is damaged: its key did not sign it")
    return admission


def _is_signed_by_its_key(admission: Admission) -> bool:
    try:
        return is_proof_valid(admission.public, admission.statement, admission.proof)
    except Malformed:  # the epoch is out of range
        return False


def _bad_code(why: str) -> Malformed:
    return Malformed(
        why,
        code="bad_admission",
        hint="copy the whole code that `moot agent register NAME --human` printed there",
    )


def require_admissible(engine: Engine, admission: Admission) -> None:
    """Raise Refused if the registry would refuse it even with a person's consent."""
    acting = VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, REGISTRY, engine.trust.origin)
    findings = MACHINE.decide(engine.registry(), admission.command(), context).findings
    errors = [finding for finding in select_errors(findings) if finding.rule != _CONSENT]
    if errors:
        raise Refused.of(errors)
