"""`moot agent rotate` and `revoke`: a new key for a name, and the end of one."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moot.core.errors import Malformed, NotFound, Refused
from moot.core.machine import KeyClass
from moot.surfaces.cli.presence.agent_facts import known, shown
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.people import a_person, persons_passphrase, require_own
from moot.surfaces.terminal.shell import Shell, command, text_argument

if TYPE_CHECKING:
    from moot.core.registry.model import RegisteredKey, State
    from moot.core.signing import Signer
    from moot.keys.folder import KeyFolder

_PREFIX = re.compile(r"[0-9a-f]{8,32}\Z")


@command(None, "rotate", "agent.rotate")
@click.argument("name")
@click.option("--reason", default="routine", show_default=True, help="Why; kept on record.")
@click.option(
    "--keys",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that keeps NAME's key, if it is not yours; the new key goes there.",
)
def rotate(shell: Shell, name: str, reason: str, keys: Path | None) -> Answer:
    """Give NAME a new key, kept where its old one is.

    The old key consents; a person does if that key was revoked or is lost.

    Examples:
      moot agent rotate amber-otter
      moot agent rotate amber-otter --keys ~/agents/otter
    """
    from moot.engine.agents import rotate as turn

    require_own(shell, name)
    registry, space = known(shell, name), shell.workspace
    key = registry.keys[registry.agents[name].kid]
    _require_root(shell, name)
    folder = _home_of(shell, key, keys)
    endorser = _endorser(shell, key, folder)
    passphrase = persons_passphrase(shell, name) if key.kind is KeyClass.HUMAN else None
    signer = folder.add(space.trust.origin, name, key.kind, passphrase=passphrase)
    try:
        turn(
            space.engine,
            name,
            signer,
            endorser=endorser,
            custodian=folder.custodian,
            reason=text_argument(reason),
        )
    except BaseException:
        folder.forget(space.trust.origin, name, signer.kid)
        raise
    space.pin_trust(folder)
    place = f"; it is in {folder.path}" if keys else ""
    said = f"{name} signs with key {signer.kid[:8]}… from now on{place}"
    return Answer(shown(space.engine.registry(), name), lambda: [said])


def _require_root(shell: Shell, name: str) -> None:
    """Before anyone is asked for anything."""
    from shlex import quote

    from moot.engine.keys import hand_of_system

    space = shell.workspace
    if hand_of_system(space.trust, space.keys) is None:
        way = f"moot agent rotate {name} --keys {quote(str(shell.folder.path))}"
        raise Refused(
            "key_missing",
            "the ledger's root key, which signs for a new key, is not in this key folder",
            hint=f"let whoever ran `moot init` do this: `{way}`",
        )


def _home_of(shell: Shell, key: RegisteredKey, named: Path | None) -> KeyFolder:
    """Where the new key goes: never out of another's hands into ours by accident."""
    from moot.keys.folder import KeyFolder

    folder = shell.folder
    if named is not None:
        return KeyFolder(named.absolute())
    file = folder.ledger(shell.workspace.trust.origin) / f"{key.name}.{key.kid}.key"
    if not file.exists() and key.custodian != folder.custodian:
        raise Refused(
            "key_missing",
            f"the key of {key.name} is not in this key folder, and was not made for it",
            hint="`--keys FOLDER` names the folder that keeps it, or, if it is lost, is to keep "
            "the new one",
        )
    return folder


def _endorser(shell: Shell, key: RegisteredKey, folder: KeyFolder) -> Signer:
    """Whoever consents: the old key, or a person if it was revoked, is lost or is damaged."""
    from moot.core.registry.model import KeyEnding
    from moot.keys.held import FolderKeys

    space = shell.workspace
    revoked = key.ending is KeyEnding.REVOKED
    if not revoked:
        for keys in (FolderKeys(folder, space.trust.origin, shell.ask_passphrase), space.keys):
            with suppress(Malformed):
                held = keys.find(key.name, key.kid)
                if held is not None:
                    return held.signer
    person = a_person(shell)
    if person is not None:
        return person
    raise Refused(
        "not_endorsed",
        f"the key of {key.name} {'was revoked' if revoked else 'is not here'}, "
        "and no person's key is here to consent to a new one",
        hint=_how_to_consent(shell.workspace.engine.registry()),
    )


def _how_to_consent(registry: State) -> str:
    if registry.human_keys():
        return "let a registered person unlock theirs, outside of `moot run`"
    return "`moot agent register NAME --human` makes a person's key; then try again"


@command(None, "revoke", "agent.revoke")
@click.argument("name")
@click.option("--reason", required=True, help="Why; kept on record.")
@click.option("--kid", help="An older key of NAME: 8 digits will do (default: the current one).")
def revoke(shell: Shell, name: str, reason: str, kid: str | None) -> Answer:
    """Stop trusting NAME's key: it leaked or was lost. What it signed until now still counts.

    Examples:
      moot agent revoke amber-otter --reason "laptop stolen"
      moot agent revoke amber-otter --reason "old backup leaked" --kid 3f786850
    """
    from moot.engine.agents import HEADS_MEDIA_TYPE, heads_now
    from moot.engine.agents import revoke as end

    registry = known(shell, name)
    require_own(shell, name)
    key = registry.agents[name].kid if kid is None else _find(registry, name, kid)
    space = shell.workspace
    reason = text_argument(reason)
    _, heads = heads_now(space.engine)
    ref = space.artifacts.put(heads, HEADS_MEDIA_TYPE)
    end(space.engine, key, reason, ref)
    data = shown(space.engine.registry(), name)
    return Answer(data, lambda: [f"the key {key[:8]}… of {name} is no longer trusted"])


def _find(registry: State, name: str, prefix: str) -> str:
    """The one key of `name` that begins so."""
    hint = f"`moot agent show {name}` names its keys"
    if not _PREFIX.match(prefix):
        said = "a key is named by 8 to 32 lower-case hex digits"
        raise Malformed(said, code="bad_key_id", hint=hint)
    mine = [key.kid for key in registry.keys.values() if key.name == name]
    found = [kid for kid in mine if kid.startswith(prefix)]
    if not found:
        raise NotFound("key_not_found", f"{name} never had the key {prefix}", hint=hint)
    if len(found) > 1:
        said = f"{len(found)} keys of {name} begin with {prefix}"
        raise Refused("ambiguous_key", said, hint="give more digits")
    return found[0]
