"""The registry's rules, one row each. docs/format.md section 4 is the norm.

A check yields `(message, where)` for each breach; for an empty message the user sees the row's
sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from moot.core import signing
from moot.core.canonical import MAX_INT
from moot.core.errors import Malformed
from moot.core.findings import Breach, Rule
from moot.core.machine import Case, Command, KeyClass
from moot.core.names import AGENT, CHECKPOINT, OPERATOR, RESERVED, SYSTEM
from moot.core.registry import model
from moot.core.registry.model import KeyEnding, KeyEndorsement, State

Breaches = Iterator[Breach]
NewKeyCase = Case[State, model.AddKey] | Case[State, model.RotateKey]

_CUSTODIAN = re.compile(r"[0-9a-f]{32}\Z")
_HASH = re.compile(r"[0-9a-f]{64}\Z")
CLOCKS = ("system", "fixed")


def _statement(case: NewKeyCase) -> bytes | None:
    """Return the statement that the new key and its endorser must have signed.

    None if it has no canonical bytes, for example because of a lone surrogate: no proof is valid.
    """
    command = case.command
    try:
        return model.key_statement(
            origin=case.context.origin,
            name=command.name,
            kind=command.kind,
            epoch=command.epoch,
            public=command.public,
            custodian=command.custodian,
        )
    except Malformed:
        return None


def _is_endorsed(state: State, statement: bytes | None, endorsement: KeyEndorsement) -> bool:
    return statement is not None and model.is_endorsement_valid(state, statement, endorsement)


def not_by_system(case: Case[State, Command]) -> Breaches:
    if case.context.actor.id != SYSTEM:
        yield "", None


def not_by_system_or_human(case: Case[State, Command]) -> Breaches:
    if case.context.actor.id != SYSTEM and case.context.actor.kind is not KeyClass.HUMAN:
        yield "", None


def already_created(case: Case[State, model.CreateLedger]) -> Breaches:
    if case.state.origin:
        yield "", None


def bad_founding(case: Case[State, model.CreateLedger]) -> Breaches:
    command = case.command
    if not _checkpoint_is_proved(case):
        yield "the proof of the checkpoint key is not valid", "checkpoint_proof"
    if command.checkpoint == command.root:
        yield "root and checkpoint must be two different keys", "checkpoint"
    try:
        root = signing.public_key(command.root)
    except Malformed as error:
        yield str(error), "root"
    else:
        if case.context.origin != model.ORIGIN_PREFIX + signing.key_id(root):
            yield "the ledger's id does not belong to this root key", "root"


def _checkpoint_is_proved(case: Case[State, model.CreateLedger]) -> bool:
    command = case.command
    try:
        statement = model.key_statement(
            origin=case.context.origin,
            name=CHECKPOINT,
            kind=KeyClass.CHECKPOINT,
            epoch=1,
            public=command.checkpoint,
            custodian=command.custodian,
        )
    except Malformed:
        return False
    return model.is_proof_valid(command.checkpoint, statement, command.checkpoint_proof)


def bad_clock(case: Case[State, model.CreateLedger]) -> Breaches:
    if case.command.clock not in CLOCKS:
        yield "", "clock"


def bad_custodian(
    case: Case[State, model.CreateLedger] | NewKeyCase,
) -> Breaches:
    # LDG-016: every key names its custodian.
    if not _CUSTODIAN.match(case.command.custodian):
        yield "", "custodian"


def bad_artifact_reference(
    case: Case[State, model.RevokeKey] | Case[State, model.EraseArtifact],
) -> Breaches:
    command = case.command
    named = command.heads if isinstance(command, model.RevokeKey) else command
    if not _HASH.match(named.sha256) or not 0 <= named.size <= MAX_INT:
        yield "", "sha256"


def bad_name(case: Case[State, model.AddKey]) -> Breaches:
    if not AGENT.match(case.command.name):
        yield f"{case.command.name!r} is not an agent name", "name"


def reserved_name(case: Case[State, model.AddKey]) -> Breaches:
    name, human = case.command.name, case.command.kind is KeyClass.HUMAN
    if name in RESERVED and not (human and name == OPERATOR):
        yield f"{name} is reserved", "name"


def name_taken(case: Case[State, model.AddKey]) -> Breaches:
    if case.command.name in case.state.agents:
        name = case.command.name
        yield f"the name {name} was used before", "name", None, {"NAME": name}


def wrong_key_class(case: Case[State, model.AddKey]) -> Breaches:
    if case.command.kind not in (KeyClass.AGENT, KeyClass.HUMAN) or case.command.epoch != 1:
        yield "", "class"


def weak_key(case: NewKeyCase) -> Breaches:
    try:
        signing.public_key(case.command.public)
    except Malformed as error:
        yield str(error), "public"


def key_already_registered(
    case: NewKeyCase,
) -> Breaches:
    try:
        kid = signing.key_id(bytes.fromhex(case.command.public))
    except ValueError:
        return  # REG-04 reports it
    if kid in case.state.keys or case.command.public == case.state.checkpoint:
        yield "", "public"


def proof_does_not_hold(case: NewKeyCase) -> Breaches:
    command, statement = case.command, _statement(case)
    if statement is None or not model.is_proof_valid(command.public, statement, command.proof):
        yield "", "proof"


def person_not_endorsed(case: Case[State, model.AddKey]) -> Breaches:
    """Report a person's key, other than the first, without a person's consent; also any invalid
    consent."""
    endorsement = case.command.endorsement
    if endorsement is None:
        if case.command.kind is KeyClass.HUMAN and _has_humans(case.state):
            yield "a further human key needs the consent of an existing one", "endorsement"
        return
    key = case.state.valid_key(endorsement.kid)
    human_needed = case.command.kind is KeyClass.HUMAN
    if key is None or (human_needed and key.kind is not KeyClass.HUMAN):
        yield "the endorsing key may not consent to this", "endorsement"
    elif not _is_endorsed(case.state, _statement(case), endorsement):
        yield "the endorsement does not hold", "endorsement"


def _has_humans(state: State) -> bool:
    return any(agent.kind is KeyClass.HUMAN for agent in state.agents.values())


def unknown_name(case: Case[State, model.RotateKey] | Case[State, model.RetireAgent]) -> Breaches:
    if case.command.name not in case.state.agents:
        yield f"no agent is called {case.command.name}", "name"


def not_current_key(case: Case[State, model.RotateKey]) -> Breaches:
    command, agent = case.command, case.state.agents.get(case.command.name)
    if agent is None:
        return
    if command.replaces != agent.kid or command.kind is not agent.kind:
        yield f"this is not the current key of {agent.name}", "replaces"
    allowed = (agent.epoch + 1,) if agent.retired else (agent.epoch, agent.epoch + 1)
    if command.epoch not in allowed:
        yield f"the next holder of {agent.name} is number {agent.epoch + 1}", "epoch"


def rotation_not_endorsed(case: Case[State, model.RotateKey]) -> Breaches:
    command, state = case.command, case.state
    old = state.keys.get(command.replaces)
    endorsement = command.endorsement
    if endorsement is None:
        yield "a new key needs the consent of the old one or of a person", "endorsement"
        return
    endorser = state.keys.get(endorsement.kid)
    own = endorser is not None and endorser is old and endorser.ending in (None, KeyEnding.RETIRED)
    person = state.valid_key(endorsement.kid)
    human = person is not None and person.kind is KeyClass.HUMAN
    if not (own or human):
        yield "the endorsing key may not consent to this", "endorsement"
    elif not _is_endorsed(case.state, _statement(case), endorsement):
        yield "the endorsement does not hold", "endorsement"


def cannot_revoke(case: Case[State, model.RevokeKey]) -> Breaches:
    key = case.state.keys.get(case.command.kid)
    if key is None:
        yield "no such key", "kid"
    elif key.kind is KeyClass.SYSTEM:
        yield "the ledger's own key cannot be revoked", "kid"
    elif key.ending is KeyEnding.REVOKED:
        yield "this key was revoked before", "kid"


def cannot_retire(case: Case[State, model.RetireAgent]) -> Breaches:
    agent = case.state.agents.get(case.command.name)
    if agent is None:
        return
    if agent.kind is not KeyClass.AGENT:
        yield f"{agent.name} is a person; revoke the key instead", "name"
    elif agent.retired:
        yield f"{agent.name} has retired already", "name"


def already_erased(case: Case[State, model.EraseArtifact]) -> Breaches:
    if case.command.sha256 in case.state.erased:
        yield "", "sha256"


def reason_missing(
    case: Case[State, model.RevokeKey]
    | Case[State, model.EraseArtifact]
    | Case[State, model.AcceptHistory],
) -> Breaches:
    if not case.command.reason.strip():
        yield "", "reason"


def history_not_endorsed(case: Case[State, model.AcceptHistory]) -> Breaches:
    # LDG-039, LDG-098
    endorsement, humans = case.command.endorsement, {key.kid for key in case.state.human_keys()}
    if endorsement is None and not humans:
        return
    if endorsement is None or endorsement.kid not in humans:
        yield "", "endorsement"
    elif not _is_endorsed(case.state, _loss_statement(case), endorsement):
        yield "the endorsement does not hold", "endorsement"


def _loss_statement(case: Case[State, model.AcceptHistory]) -> bytes | None:
    lost, reason = case.command.lost, case.command.reason
    try:
        return model.loss_statement(origin=case.context.origin, lost=lost, reason=reason)
    except Malformed:
        return None


_BY_SYSTEM = Rule("REG-01", "not_allowed", "only the ledger's own root key may do this",
                  not_by_system,
                  "the root key is in the key folder of the user who ran `moot init`")  # fmt: skip
_BY_SYSTEM_OR_HUMAN = Rule("REG-02", "not_allowed", "only the root key or a person may do this",
                           not_by_system_or_human,
                           "ask a person to do this, outside of `moot run`")  # fmt: skip
_REASON = Rule("REG-03", "reason_required", "a reason is required", reason_missing,
               "--reason TEXT")  # fmt: skip
_WEAK = Rule("REG-04", "weak_key", "the public key is not safe", weak_key,
             "make a new key: `moot agent register NAME`")  # fmt: skip
_KNOWN = Rule("REG-05", "key_known", "this key was registered before", key_already_registered,
              "make a new key: one key, one name")  # fmt: skip
_PROOF = Rule("REG-06", "no_proof", "the signature that proves possession of the key is not valid",
              proof_does_not_hold, "sign with the key that is being registered")  # fmt: skip
_UNKNOWN = Rule("REG-07", "agent_not_found", "no such agent", unknown_name,
                "`moot agent list` shows all")  # fmt: skip
_CUSTODY = Rule("REG-08", "bad_value", "a custodian is 32 hex digits", bad_custodian,
                "let `moot` build the command")  # fmt: skip
_ARTIFACT = Rule("REG-08", "bad_value", "an artifact is named by hash and size",
                 bad_artifact_reference, "let `moot` build the command")  # fmt: skip

RULES: dict[type[Command], tuple[Rule[Any], ...]] = {
    model.CreateLedger: (
        _BY_SYSTEM,
        Rule("REG-10", "ledger_exists", "the ledger exists already", already_created,
             "`moot status` shows it"),
        Rule("REG-11", "bad_founding", "the ledger's keys are not valid", bad_founding,
             "let `moot init` make the keys"),
        Rule("REG-08", "bad_value", "the clock is `system` or `fixed`", bad_clock,
             "let `moot` build the command"),
        _CUSTODY,
    ),
    model.AddKey: (
        _BY_SYSTEM,
        Rule("REG-12", "bad_name", "not an agent name", bad_name,
             "3 to 48 of a-z, 0-9 and single hyphens, such as amber-otter"),
        Rule("REG-13", "name_reserved", "the name is reserved", reserved_name,
             "choose another name, such as amber-otter"),
        Rule("REG-14", "name_taken", "the name was used before", name_taken,
             "choose another name: no name is used twice; if it is yours and has not ended,"
             " continue with `moot --as NAME join`"),
        Rule("REG-15", "wrong_class", "new names are agents or people", wrong_key_class,
             "`moot agent register NAME`, with --human for a person"),
        _CUSTODY,
        _WEAK,
        _KNOWN,
        _PROOF,
        Rule("REG-16", "human_key_required", "the consent of a person is missing",
             person_not_endorsed,
             "ask a registered person to unlock their key at a terminal where the key is"),
    ),
    model.RotateKey: (
        _BY_SYSTEM,
        _UNKNOWN,
        Rule("REG-17", "not_current", "not the current key", not_current_key,
             "`moot agent show NAME` names its current key"),
        _CUSTODY,
        _WEAK,
        _KNOWN,
        _PROOF,
        Rule("REG-18", "not_endorsed", "consent is missing", rotation_not_endorsed,
             "run this on the machine that has the old key, or ask a person to unlock theirs"),
    ),
    model.RevokeKey: (
        _BY_SYSTEM_OR_HUMAN,
        _REASON,
        Rule("REG-19", "cannot_revoke", "the key cannot be revoked", cannot_revoke,
             "`moot agent show NAME` names its keys"),
        _ARTIFACT,
    ),
    model.RetireAgent: (
        _BY_SYSTEM,
        _UNKNOWN,
        Rule("REG-20", "cannot_retire", "the agent cannot retire", cannot_retire,
             "`moot agent show NAME` shows its state"),
    ),
    model.EraseArtifact: (
        _BY_SYSTEM_OR_HUMAN,
        _REASON,
        Rule("REG-21", "already_erased", "this artifact was erased before", already_erased,
             "there is nothing left to do"),
        _ARTIFACT,
    ),
    model.AcceptHistory: (
        _BY_SYSTEM,
        _REASON,
        Rule("REG-22", "human_key_required", "a person must accept the loss", history_not_endorsed,
             "ask a registered person to unlock their key at a terminal"),
    ),
}  # fmt: skip
