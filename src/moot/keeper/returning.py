"""A machine that its keeper knows no more, although keys of its key folder are on record: the list
of machines was lost. Both sides of how it is believed.

Which key folder a machine has is what it says of itself. Without the list, whoever is invited could
say that it has another machine's, and retire its agents. So a key of that folder signs for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moot.core.canonical import canonical
from moot.core.machine import KeyClass
from moot.core.registry.model import State as Registry
from moot.core.signing import RETURN, Signer, public_key, verify
from moot.keeper import questions as ask

MOST_KEYS: Final = 100  # as many signatures as a greeting has room for


def prove_return(signers: Iterable[Signer], origin: str, question: ask.Join) -> ask.HeldKeys:
    """A machine's side: what its agents' keys sign of this question."""
    statement = _make_statement(origin, question)
    some = list(signers)[:MOST_KEYS]
    return tuple((signer.kid, signer.sign(RETURN, statement)) for signer in some)


def is_return_proven(registry: Registry, question: ask.Join) -> bool:
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
    """It names the invitation, so that nobody who saw it can use it once more."""
    return canonical(
        {
            "custodian": question.custodian,
            "invitation": question.invitation,
            "machine": question.machine,
            "origin": origin,
            "repository": question.repository,
        }
    )
