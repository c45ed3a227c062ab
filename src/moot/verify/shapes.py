"""The fields of each kind of registry event: the table of section 4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.verify import fields

CREATED: Final = "registry.ledger_created"

_ENDORSEMENT = fields.an_object({"kid": fields.HEX_KID, "sig": fields.HEX_SIGNATURE})
_NEW_KEY: Final[Mapping[str, fields.Rule]] = {
    "class": fields.one_of("agent", "human"),
    "custodian": fields.HEX_KID,
    "endorsement": fields.or_null(_ENDORSEMENT),
    "epoch": fields.EPOCH,
    "name": fields.is_name,
    "proof": fields.HEX_SIGNATURE,
    "public": fields.HEX_PUBLIC,
}

SHAPES: Final[Mapping[str, Mapping[str, fields.Rule]]] = {
    CREATED: {
        "checkpoint": fields.HEX_PUBLIC,
        "checkpoint_proof": fields.HEX_SIGNATURE,
        "clock": fields.one_of("system", "fixed"),
        "custodian": fields.HEX_KID,
        "root": fields.HEX_PUBLIC,
    },
    "registry.key_added": _NEW_KEY,
    "registry.key_rotated": {**_NEW_KEY, "reason": fields.text(), "replaces": fields.HEX_KID},
    "registry.key_revoked": {
        "heads": fields.HEX_HASH,
        "kid": fields.HEX_KID,
        "reason": fields.text(),
    },
    "registry.agent_retired": {
        "epoch": fields.EPOCH,
        "name": fields.is_name,
        "reason": fields.text(),
    },
    "registry.artifact_erased": {
        "reason": fields.text(),
        "sha256": fields.HEX_HASH,
        "size": fields.SIZE,
    },
    "registry.history_accepted": {
        "endorsement": fields.or_null(_ENDORSEMENT),
        "lost": fields.text(),
        "reason": fields.text(),
    },
}
