"""Admitting a person whose key lies on another machine.

Their machine makes the locked key and prints one word (`moot agent register NAME --human`); a
registered person, on whichever machine their own key is, looks at it and consents.
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
    """Who asks to be admitted as a person. `machine` is what the machine with the key is called,
    if it is known; `fingerprint` is to be compared with what is shown there."""

    name: str
    custodian: str
    machine: str | None
    fingerprint: str
    is_admitted: bool


class AdmittedPerson(RegisteredAgent, frozen=True, kw_only=True):
    """A person who was admitted. `by` consented; None if it was admitted before."""

    machine: str | None
    fingerprint: str
    by: str | None


def needs_admission(session: Session) -> bool:
    """True if a person's key that is made here needs the consent of one elsewhere.

    Refused on a machine that joined while nobody is registered as a person: the first is the owner
    of the ledger.
    """
    from moot.hosts.ledger_signing import no_consent

    session.require_no_agent("making a person's key")
    workspace = session.workspace
    people = workspace.engine.registry().human_keys()
    if workspace.joined is not None and not people:
        raise no_consent(workspace.engine.registry())
    is_shared = workspace.joined is not None or (workspace.path / "keeper").exists()
    may_consent = (key for key in people if session.acting in (None, key.name))
    origin = workspace.trust.origin
    is_here = any(
        session.keys.read_key(origin, key.name, key.kid) is not None for key in may_consent
    )
    return bool(people) and is_shared and not is_here


def ask_for_admission(session: Session, name: str, folder: KeyFolder, passphrase: str) -> NewAgent:
    """Make a person's locked key that is registered once a person elsewhere consents.

    The same name and passphrase give the same word again until then.
    """
    from moot.api.presence.arrival import new_key

    workspace = session.workspace
    origin = workspace.trust.origin
    waiting = _find_waiting_key(session, name, folder, passphrase)
    if waiting is not None:
        asked = make_admission(origin, name, waiting, folder.custodian)
        require_admissible(workspace.engine, asked)
    else:
        with new_key(workspace, name, folder, KeyClass.HUMAN, passphrase) as signer:
            asked = make_admission(origin, name, signer, folder.custodian)
            require_admissible(workspace.engine, asked)
    return NewAgent(
        agent=name,
        kind=str(KeyClass.HUMAN),
        status=WAITING,
        epoch=asked.epoch,
        kid=asked.kid,
        public=asked.public,
        custodian=asked.custodian,
        since=to_text(workspace.engine.clock()),
        admission=asked.text,
        fingerprint=asked.fingerprint,
    )


def _find_waiting_key(
    session: Session, name: str, folder: KeyFolder, passphrase: str
) -> Signer | None:
    """A key of this person that is here and not on record, if this passphrase opens it."""
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


def preview_admission(session: Session, word: str) -> AdmissionPreview:
    """Who asks, with which key; Refused if it is of another ledger."""
    asked = _read(session, word)
    return AdmissionPreview(
        asked.name,
        asked.custodian,
        _find_machine(session, asked.custodian),
        asked.fingerprint,
        _is_admitted(session, asked),
    )


@operation("admit", writes=True)
def admit(session: Session, word: str, *, key: str | None = None) -> AdmittedPerson:
    """Let a person in whose key lies on another machine: `word` is what that machine printed.

    A registered person unlocks their key here and consents to this very key, name and custodian;
    from then on it signs there. Refused to agents, for a word of another ledger, and if the name
    was given to somebody else meanwhile. A repeat changes nothing.
    """
    session.require_no_agent("admitting a person")
    asked, engine = _read(session, word), session.workspace.engine
    by: str | None = None
    if not _is_admitted(session, asked):
        require_admissible(engine, asked)
        by, signer = _require_consenting(session)
        engine.execute(REGISTRY, asked.command(signer), SYSTEM, key=key)
    return AdmittedPerson(
        **msgspec.structs.asdict(describe_agent(engine.registry(), asked.name)),
        machine=_find_machine(session, asked.custodian),
        fingerprint=asked.fingerprint,
        by=by,
    )


def _read(session: Session, word: str) -> Admission:

    session.require_workspace()
    asked = read_admission(word)
    if asked.origin != session.workspace.trust.origin:
        raise Refused(
            "another_ledger",
            f"{asked.name} asks to be admitted to another ledger",
            hint="type this in a clone whose ledger is theirs; `moot trust show` names this one",
        )
    return asked


def _is_admitted(session: Session, asked: Admission) -> bool:
    known = session.workspace.engine.registry().keys.get(asked.kid)
    return known is not None and (known.name, known.kind) == (asked.name, KeyClass.HUMAN)


def _require_consenting(session: Session) -> tuple[str, Signer]:
    """The person who consents, with their key."""
    signer = session.person_signer()
    if signer is not None:
        return session.workspace.engine.registry().keys[signer.kid].name, signer
    hint = "type it on a machine where a person's key is; `moot agent list` shows who is one"
    if not session.has_people():
        hint = "`moot agent register NAME --human` on the machine that keeps the ledger comes first"
    raise Refused(
        "human_key_required",
        "no person's key is here to consent: people are admitted by a person",
        hint=hint,
    )


def _find_machine(session: Session, custodian: str) -> str | None:
    """What the machine with this key folder is called: now, if it came back under a new name."""
    from moot.api.hosts.machines import list_machines

    rows = [row for row in list_machines(session).machines if row.custodian == custodian]
    rows.sort(key=lambda row: not row.is_revoked)
    return rows[-1].name if rows else None


# A person's key that was made on another machine, as one word: NAME#REST. It has all that a person
# elsewhere signs, and nothing secret; the fingerprint shows if it was changed on its way.

MOST_CHARACTERS: Final = 400
VERSION: Final = 1
_CONSENT: Final = "REG-16"  # the rule that asks for it


class _Packed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What stands behind the name."""

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
        """What two people compare, by voice: the key's id, as far as nobody can imitate it."""
        return " ".join(self.kid[at : at + 4] for at in range(0, 20, 4))

    @property
    def statement(self) -> bytes:
        """What the key itself and whoever consents have signed."""
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
        packed = _Packed(
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
        """Register it, with the consent of a person."""
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
    asked = Admission(origin, name, 1, signer.public.hex(), custodian, "")
    return msgspec.structs.replace(asked, proof=sign_proof(signer, asked.statement))


def read_admission(text: str) -> Admission:
    """What a word says; Malformed unless it is whole and its key has signed it."""
    text = text.strip()
    name, _, rest = text.partition("#")
    if len(text) > MOST_CHARACTERS or not AGENT.match(name):
        raise _damaged("this is no word of `moot agent register NAME --human`")
    try:
        data = base64.b64decode(rest + "=" * (-len(rest) % 4), b"-_", validate=True)
        packed = msgspec.msgpack.decode(data, type=_Packed)
    except (binascii.Error, ValueError, msgspec.DecodeError, RecursionError):
        raise _damaged("the word is damaged") from None
    if packed.version != VERSION:
        raise _damaged("the word was made by another version of moot")
    asked = Admission(
        ORIGIN_PREFIX + packed.ledger.hex(),
        name,
        packed.epoch,
        packed.public.hex(),
        packed.custodian.hex(),
        packed.proof.hex(),
    )
    if not _is_proved(asked):
        raise _damaged("the word is damaged: its key did not sign it")
    return asked


def _is_proved(asked: Admission) -> bool:
    try:
        return is_proof_valid(asked.public, asked.statement, asked.proof)
    except Malformed:  # a number that nobody signs
        return False


def _damaged(why: str) -> Malformed:
    return Malformed(
        why,
        code="bad_admission",
        hint="take the whole word that `moot agent register NAME --human` printed there",
    )


def require_admissible(engine: Engine, asked: Admission) -> None:
    """Refused if the registry would refuse it even with a person's consent."""
    acting = VerifiedActor(SYSTEM, 1, "", KeyClass.SYSTEM)
    context = Context(engine.clock(), acting, REGISTRY, engine.trust.origin)
    found = MACHINE.decide(engine.registry(), asked.command(), context).findings
    wrong = [finding for finding in select_errors(found) if finding.rule != _CONSENT]
    if wrong:
        raise Refused.of(wrong)
