"""Acts reserved to people: the human key that must consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.errors import Refused
from moot.core.machine import KeyClass

if TYPE_CHECKING:
    from moot.core.signing import Signer
    from moot.surfaces.terminal.shell import Shell


def a_person(shell: Shell) -> Signer | None:
    """A registered person whose key is here, unlocked; None if there is none.

    Whoever acts under a name lends no other name's consent.
    """
    for key in shell.workspace.engine.registry().humans():
        if shell.acting in (None, key.name):
            held = shell.workspace.keys.find(key.name, key.kid)
            if held is not None:
                return held.signer
    return None


def a_persons_name(shell: Shell, what: str) -> str:
    """Who of the people here acts: the one named, else the first whose key can be unlocked."""
    require_no_agent(shell, what)
    for key in shell.workspace.engine.registry().humans():
        asked = shell.acting in (None, key.name)
        if asked and shell.workspace.keys.find(key.name, key.kid) is not None:
            return key.name
    raise Refused(
        "human_key_required",
        f"no person's key is here: {what} is for people",
        hint="`moot agent register NAME --human` makes one",
    )


def require_no_agent(shell: Shell, what: str) -> None:
    """Refuse an agent outright, before anyone is asked for a passphrase."""
    if shell.acting is None:
        return
    known = shell.workspace.engine.registry().agents.get(shell.acting)
    if known is None or known.kind is not KeyClass.HUMAN:
        raise Refused(
            "human_key_required",
            f"{shell.acting} is no person: {what} is for people",
            hint="run this yourself, outside of `moot run`",
        )


def require_own(shell: Shell, name: str) -> None:
    """An agent ends or renews only itself; people, and a bare terminal, anyone."""
    if shell.acting is None or shell.acting == name:
        return
    known = shell.workspace.engine.registry().agents.get(shell.acting)
    if known is None or known.kind is not KeyClass.HUMAN:
        raise Refused(
            "not_you",
            f"you are {shell.acting}; this is about {name}",
            hint="an agent does this for itself only; ask the person who runs you",
        )


def persons_passphrase(shell: Shell, name: str) -> str:
    """The passphrase of a new key of a person's, which an agent may not make."""
    from moot.keys.lock import require_long

    if shell.env.get("MOOT_AGENT"):
        raise Refused(
            "human_key_required",
            "an agent may not make a person's key",
            hint="run this yourself, outside of `moot run`",
        )
    given = shell.new_passphrase(name)
    if not given:
        raise Refused(
            "passphrase_required",
            "a person's key needs a passphrase",
            hint="run this at a terminal; for automation set MOOT_PASSPHRASE_FILE",
        )
    require_long(given)  # before anyone else is asked for theirs
    return given
