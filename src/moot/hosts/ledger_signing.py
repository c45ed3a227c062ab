"""What the ledger's own key signs when a machine asks for it, and what it does not.

Most of it are the clerk's events in a session that the machine itself began: debates, parliaments,
decisions, traces. For everything else the table ALLOWED has the conditions. No machine asks for
timeouts: the keeper applies what is overdue itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from moot.core.errors import Refused
from moot.core.machine import Command, KeyClass
from moot.core.names import SYSTEM, protocol_of
from moot.core.registry.model import AddKey
from moot.core.registry.model import State as Registry
from moot.engine.job import Job
from moot.hosts.members import Member, machine_suffix

# Protocols whose sessions have an owner: the machine that began one keeps its files and minutes,
# until the session is moved (`session_owner.py`).
OWNED_PROTOCOLS: Final = frozenset(
    {"debate", "parliament", "decision", "trace", "observed", "path"}
)

# Observations of a coding tool stay on the machine where it ran.
MOVABLE: Final = OWNED_PROTOCOLS - {"observed"}

# Returns whether the ledger signs this command for this machine.
Allows = Callable[[Command, Registry, Member], bool]


def _is_own_new_key(command: Command, _registry: Registry, machine: Member) -> bool:
    """Return whether the new key's custodian is the machine that asks."""
    return getattr(command, "custodian", None) == machine.custodian


def _is_own_or_admitted(command: Command, registry: Registry, machine: Member) -> bool:
    """Return whether the key is the machine's own, or a person's.

    A person's key may be on any machine: it needs a person's consent, which names the custodian and
    which the registry's rules verify.
    """
    is_person = isinstance(command, AddKey) and command.kind is KeyClass.HUMAN
    return is_person or _is_own_new_key(command, registry, machine)


def _is_own_agent(command: Command, registry: Registry, machine: Member) -> bool:
    name = getattr(command, "name", None) or getattr(command, "agent", None)
    agent = registry.agents.get(name or "")
    return agent is not None and registry.keys[agent.kid].custodian == machine.custodian


def _names_its_machine(command: Command, _registry: Registry, machine: Member) -> bool:
    """Return whether the letter's subject names the machine that wrote it."""
    return str(getattr(command, "subject", "")).endswith(machine_suffix(machine.name))


def _is_about_ended_agent(command: Command, registry: Registry, _machine: Member) -> bool:
    """Return whether the agent that the command names as ended has ended, in any epoch."""
    return _has_ended(registry, getattr(command, "ended", ""))


def _has_ended(registry: Registry, name: str) -> bool:
    agent = registry.agents.get(name)
    return agent is not None and (agent.epoch > 1 or not registry.is_holder(name, agent.epoch))


# (protocol, command) -> condition. Commands without a row are refused. A new key for an old name,
# and a person's key, also need a consent, which the registry's rules check.
ALLOWED: Final[Mapping[tuple[str, str], Allows]] = {
    ("registry", "AddKey"): _is_own_or_admitted,
    ("registry", "RotateKey"): _is_own_new_key,
    ("registry", "RetireAgent"): _is_own_agent,
    ("presence", "EndGone"): _is_own_agent,
    ("mail", "Send"): _names_its_machine,
    ("mail", "Lapse"): _is_about_ended_agent,
    ("presence", "LapseAnswer"): _is_about_ended_agent,
}


def require_ledger_may_sign(
    jobs: Sequence[Job], registry: Registry, machine: Member, is_owner: Callable[[str], bool]
) -> None:
    """Raise Refused (`ledgers_part`) unless the ledger may sign its part of these jobs."""
    for job in jobs:
        if job.actor != SYSTEM:
            continue  # its actor has signed it
        _require_consent(job.command, registry)
        protocol, name = protocol_of(job.stream), type(job.command).__name__
        hint = "run this on the machine that keeps the ledger"
        if protocol in OWNED_PROTOCOLS:
            allowed, why = is_owner(job.stream), "another machine owns this session"
            hint = "run this on that machine"
            if protocol in MOVABLE:
                hint += f"; `moot machine move-here {job.stream}` brings it here"
        else:
            allows = ALLOWED.get((protocol, name))
            allowed = allows is not None and allows(job.command, registry, machine)
            why = "this machine may not ask for it"
        if not allowed:
            raise Refused(
                "ledgers_part",
                f"the keeper does not sign {name} on {job.stream} for this machine: {why}",
                hint=hint,
            )


def _require_consent(command: Command, registry: Registry) -> None:
    """Raise Refused for a person's key without a consent.

    The first person needs none and becomes the owner of the ledger. That must not happen on a
    machine that joined: it was invited for agents.
    """
    if not isinstance(command, AddKey) or command.kind is not KeyClass.HUMAN:
        return
    if command.endorsement is None:
        raise person_needs_consent(registry)


def person_needs_consent(registry: Registry) -> Refused:
    """Return the refusal of a person's key without consent, with the command that works."""
    if registry.human_keys():
        hint = "run `moot agent register NAME --human` here, then what it prints on the machine of"
        hint += " a registered person"
    else:
        hint = "first run `moot agent register NAME --human` on the machine that keeps the ledger"
    return Refused(
        "human_key_required",
        "on a joined machine a new person needs the consent of a registered person",
        hint=hint,
    )
