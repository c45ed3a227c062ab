"""A new key for a name, and the end of one that leaked or was lost."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.api.operation import operation
from moot.api.presence.agents import (
    AskNewPassphrase,
    RegisteredAgent,
    describe_agent,
    require_new_passphrase,
)
from moot.core.errors import Malformed, NotFound, Refused
from moot.core.machine import KeyClass

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.registry.model import RegisteredKey, State
    from moot.core.signing import Signer
    from moot.keys.folder import KeyFolder

_KEY_ID_PREFIX: Final = re.compile(r"[0-9a-f]{8,32}\Z")


@operation("agent.rotate", writes=True, as_ledger=True)
def rotate(
    session: Session,
    name: str,
    *,
    reason: str = "routine",
    keys: Path | None = None,
    passphrase: AskNewPassphrase | None = None,
) -> RegisteredAgent:
    """Give `name` a new key, kept where its old one is, or in the folder `keys`.

    The old key consents; a person does if that key was revoked, is lost or is damaged. For a
    person's key `passphrase` returns the new passphrase. An agent may rotate only its own key.
    Each call makes another key, so it takes no idempotency key.
    """
    from moot.api.presence.arrival import new_key
    from moot.engine.registry_commands import rotate as rotate_key

    session.require_self_or_person(name)
    agent, workspace = session.require_agent(name), session.workspace
    key = workspace.engine.registry().keys[agent.kid]
    _require_root_key(session, name)
    folder = _folder_for_new_key(session, key, keys)
    endorser = _require_endorser(session, key, folder)
    is_person = key.kind is KeyClass.HUMAN
    lock = require_new_passphrase(session, name, passphrase) if is_person else None
    with new_key(workspace, name, folder, key.kind, lock) as signer:
        rotate_key(
            workspace.engine,
            name,
            signer,
            endorser=endorser,
            custodian=folder.custodian,
            reason=reason,
        )
    return describe_agent(workspace.engine.registry(), name)


@operation("agent.revoke", writes=True, as_ledger=True)
def revoke(session: Session, name: str, reason: str, *, kid: str | None = None) -> RegisteredAgent:
    """Stop trusting a key of `name`: it leaked or was lost. What it signed until now still counts.

    `kid` names an older key, eight digits are enough (default: the current one). An agent may
    revoke only its own key. A revoked key is not revoked again, so a repeat needs no idempotency
    key.
    """
    from moot.engine.registry_commands import HEADS_MEDIA_TYPE, current_heads
    from moot.engine.registry_commands import revoke as revoke_key

    agent, workspace = session.require_agent(name), session.workspace
    session.require_self_or_person(name)
    revoked = agent.kid if kid is None else _find_key(workspace.engine.registry(), name, kid)
    _, heads = current_heads(workspace.engine)
    revoke_key(workspace.engine, revoked, reason, workspace.artifacts.put(heads, HEADS_MEDIA_TYPE))
    return describe_agent(workspace.engine.registry(), name)


def _require_root_key(session: Session, name: str) -> None:
    """Raise Refused if the root key is not here, before a passphrase is asked for."""
    from shlex import quote

    workspace = session.workspace
    workspace.engine.require_writable()
    if not workspace.engine.signs_as_ledger:
        rotate_line = f"moot agent rotate {name} --keys {quote(str(session.keys.path))}"
        raise Refused(
            "key_missing",
            "the ledger's root key, which signs for a new key, is not in this key folder",
            hint=f"ask the person who ran `moot init` to run: `{rotate_line}`",
        )


def _folder_for_new_key(session: Session, key: RegisteredKey, named: Path | None) -> KeyFolder:
    """Return the folder for the new key.

    Refuses to put another folder's key into this one by default: its owner could not sign any more.
    """
    from moot.keys.folder import KeyFolder

    folder = session.keys
    if named is not None:
        return KeyFolder(named.absolute())
    file = folder.ledger_folder(session.workspace.trust.origin) / f"{key.name}.{key.kid}.key"
    if not file.exists() and key.custodian != folder.custodian:
        raise Refused(
            "key_missing",
            f"the key of {key.name} is not in this key folder and was made for another one",
            hint="name the folder that has it, or that shall get the new key: `--keys FOLDER`",
        )
    return folder


def _require_endorser(session: Session, key: RegisteredKey, folder: KeyFolder) -> Signer:
    """Return the key that consents: the old one, or a person's if that is revoked or unusable."""
    from moot.core.registry.model import KeyEnding
    from moot.keys.folder import FolderKeys

    workspace = session.workspace
    revoked = key.ending is KeyEnding.REVOKED
    if not revoked:
        named = FolderKeys(folder, workspace.trust.origin, session.ask_passphrase)
        for keys in (named, workspace.keys):
            with suppress(Malformed):
                held = keys.find(key.name, key.kid)
                if held is not None:
                    return held.signer
    person = session.person_signer()
    if person is not None:
        return person
    raise Refused(
        "not_endorsed",
        f"the key of {key.name} {'was revoked' if revoked else 'is not here'}, "
        "and no person's key is here to consent to a new one",
        hint=_how_to_consent(workspace.engine.registry()),
    )


def _how_to_consent(registry: State) -> str:
    if registry.human_keys():
        return "ask a registered person to unlock theirs, outside of `moot run`"
    return "`moot agent register NAME --human` makes a person's key; then try again"


def _find_key(registry: State, name: str, prefix: str) -> str:
    """Return the only key of `name` that begins with `prefix`."""
    hint = f"`moot agent show {name}` lists its keys"
    if not _KEY_ID_PREFIX.match(prefix):
        raise Malformed(
            "a key is named by 8 to 32 lower-case hex digits", code="bad_key_id", hint=hint
        )
    own = [key.kid for key in registry.keys.values() if key.name == name]
    matches = [kid for kid in own if kid.startswith(prefix)]
    if not matches:
        raise NotFound("key_not_found", f"{name} never had the key {prefix}", hint=hint)
    if len(matches) > 1:
        raise Refused(
            "ambiguous_key",
            f"{len(matches)} keys of {name} begin with {prefix}",
            hint="give more digits",
        )
    return matches[0]
