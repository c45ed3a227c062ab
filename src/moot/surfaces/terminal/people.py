"""Acts reserved to people: the human key that must consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.core.signing import Signer
    from moot.surfaces.terminal.shell import Shell


def a_person(shell: Shell) -> Signer | None:
    return shell.session.person_signer()


def a_persons_name(shell: Shell, what: str) -> str:
    return shell.session.person(what)


def require_no_agent(shell: Shell, what: str) -> None:
    shell.session.require_no_agent(what)


def require_own(shell: Shell, name: str) -> None:
    shell.session.require_self_or_person(name)


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
