"""The fields of each kind of registry event: the table of section 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.verify import field_rules

LEDGER_CREATED: Final = "registry.ledger_created"

_ENDORSEMENT = field_rules.an_object({"kid": field_rules.HEX_KID, "sig": field_rules.HEX_SIGNATURE})
_NEW_KEY: Final[Mapping[str, field_rules.Rule]] = {
    "class": field_rules.one_of("agent", "human"),
    "custodian": field_rules.HEX_KID,
    "endorsement": field_rules.or_null(_ENDORSEMENT),
    "epoch": field_rules.EPOCH,
    "name": field_rules.is_name,
    "proof": field_rules.HEX_SIGNATURE,
    "public": field_rules.HEX_PUBLIC,
}

REGISTRY_FIELDS: Final[Mapping[str, Mapping[str, field_rules.Rule]]] = {
    LEDGER_CREATED: {
        "checkpoint": field_rules.HEX_PUBLIC,
        "checkpoint_proof": field_rules.HEX_SIGNATURE,
        "clock": field_rules.one_of("system", "fixed"),
        "custodian": field_rules.HEX_KID,
        "root": field_rules.HEX_PUBLIC,
    },
    "registry.key_added": _NEW_KEY,
    "registry.key_rotated": {
        **_NEW_KEY,
        "reason": field_rules.text(),
        "replaces": field_rules.HEX_KID,
    },
    "registry.key_revoked": {
        "heads": field_rules.HEX_HASH,
        "kid": field_rules.HEX_KID,
        "reason": field_rules.text(),
    },
    "registry.agent_retired": {
        "epoch": field_rules.EPOCH,
        "name": field_rules.is_name,
        "reason": field_rules.text(),
    },
    "registry.artifact_erased": {
        "reason": field_rules.text(),
        "sha256": field_rules.HEX_HASH,
        "size": field_rules.SIZE,
    },
    "registry.history_accepted": {
        "endorsement": field_rules.or_null(_ENDORSEMENT),
        "lost": field_rules.text(),
        "reason": field_rules.text(),
    },
}
