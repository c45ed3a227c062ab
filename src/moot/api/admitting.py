"""Admitting a person whose key lies on another machine.

Their machine makes the locked key and prints one word (`moot agent register NAME --human`); a
registered person, on whichever machine their own key is, looks at it and consents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from moot.api.agents import NewAgent, RegisteredAgent, describe_agent
from moot.api.operation import operation
from moot.core.errors import Refused
from moot.core.machine import KeyClass

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.signing import Signer
    from moot.flows.presence.admission import Admission
    from moot.keys.folder import KeyFolder

WAITING: Final = "waiting"


class AskedAdmission(msgspec.Struct, frozen=True):
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
    from moot.keeper.ledgers_part import no_consent

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
    from moot.core.clock import to_text
    from moot.flows.presence.admission import make_admission, require_admissible
    from moot.flows.presence.new_key import new_key

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


def look_at(session: Session, word: str) -> AskedAdmission:
    """Who asks, with which key; Refused if it is of another ledger."""
    asked = _read(session, word)
    return AskedAdmission(
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
    from moot.core.names import REGISTRY, SYSTEM
    from moot.flows.presence.admission import require_admissible

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
    from moot.flows.presence.admission import read_admission

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
    from moot.api.machines import list_machines

    rows = [row for row in list_machines(session).machines if row.custodian == custodian]
    rows.sort(key=lambda row: not row.is_revoked)
    return rows[-1].name if rows else None
