"""What the ledger's own key signs because a machine asks for it, and what not.

Most of it is the clerk's part in a session that the machine itself began: its debates, parliaments,
questions, traces. For the rest the table below says when. Time limits are no machine's business:
the keeper applies what is overdue itself.
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
from moot.hosts.members import Member, mark_of_machine

# Protocols whose sessions have a home: the machine that began one keeps its files and its minutes,
# until it is moved (`session_owner.py`).
OWNED_PROTOCOLS: Final = frozenset(
    {"debate", "parliament", "decision", "trace", "observed", "path"}
)

# What a coding tool was seen to do stays where the tool ran.
MOVABLE: Final = OWNED_PROTOCOLS - {"observed"}

# Says whether the ledger signs such a command for this machine.
Allows = Callable[[Command, Registry, Member], bool]


def _is_own_new_key(command: Command, _registry: Registry, machine: Member) -> bool:
    """A new name is entered under the custodian who really has its key."""
    return getattr(command, "custodian", None) == machine.custodian


def _is_own_or_admitted(command: Command, registry: Registry, machine: Member) -> bool:
    """Or it is a person, wherever their key is, with a person's consent: that names the custodian,
    and the registry's rules verify it."""
    is_person = isinstance(command, AddKey) and command.kind is KeyClass.HUMAN
    return is_person or _is_own_new_key(command, registry, machine)


def _is_own_agent(command: Command, registry: Registry, machine: Member) -> bool:
    name = getattr(command, "name", None) or getattr(command, "agent", None)
    agent = registry.agents.get(name or "")
    return agent is not None and registry.keys[agent.kid].custodian == machine.custodian


def _names_its_machine(command: Command, _registry: Registry, machine: Member) -> bool:
    """Return whether the subject shows its reader which machine wrote this letter."""
    return str(getattr(command, "subject", "")).endswith(mark_of_machine(machine.name))


def _is_of_somebody_ended(command: Command, registry: Registry, _machine: Member) -> bool:
    """Return whether the agent that the command calls ended has ended, or an earlier one."""
    return _has_ended(registry, getattr(command, "ended", ""))


def _has_ended(registry: Registry, name: str) -> bool:
    agent = registry.agents.get(name)
    return agent is not None and (agent.epoch > 1 or not registry.is_holder(name, agent.epoch))


# protocol and command -> when. What is in no row is refused. A new key for an old name, and a
# person's key, need the consent of the old key or of a person: the registry's rules see to that.
ALLOWED: Final[Mapping[tuple[str, str], Allows]] = {
    ("registry", "AddKey"): _is_own_or_admitted,
    ("registry", "RotateKey"): _is_own_new_key,
    ("registry", "RetireAgent"): _is_own_agent,
    ("presence", "EndGone"): _is_own_agent,
    ("mail", "Send"): _names_its_machine,
    ("mail", "Lapse"): _is_of_somebody_ended,
    ("presence", "LapseAnswer"): _is_of_somebody_ended,
}


def require_may_ask(
    jobs: Sequence[Job], registry: Registry, machine: Member, is_owner: Callable[[str], bool]
) -> None:
    """Refused (`ledgers_part`) unless the ledger may sign its part of these jobs for a machine."""
    for job in jobs:
        if job.actor != SYSTEM:
            continue  # its actor has signed it
        _require_consent(job.command, registry)
        protocol, name = protocol_of(job.stream), type(job.command).__name__
        hint = "run this where the ledger is kept"
        if protocol in OWNED_PROTOCOLS:
            allowed, why = is_owner(job.stream), "another machine keeps the minutes of it"
            hint = "run this on that machine"
            if protocol in MOVABLE:
                hint += f"; `moot machine move-here {job.stream}` brings it here"
        else:
            allows = ALLOWED.get((protocol, name))
            allowed = allows is not None and allows(job.command, registry, machine)
            why = "it is not this machine's to ask for"
        if not allowed:
            raise Refused(
                "ledgers_part",
                f"the keeper signs no {name} on {job.stream} for this machine: {why}",
                hint=hint,
            )


def _require_consent(command: Command, registry: Registry) -> None:
    """The very first person needs nobody's consent, and is the owner of the ledger: never somebody
    on a machine that joined, which was invited for agents."""
    if not isinstance(command, AddKey) or command.kind is not KeyClass.HUMAN:
        return
    if command.endorsement is None:
        raise no_consent(registry)


def no_consent(registry: Registry) -> Refused:
    """Why a machine that joined makes nobody a person by itself, and how it is done instead."""
    if registry.human_keys():
        hint = "`moot agent register NAME --human` here, then what it says on a person's machine"
    else:
        hint = "`moot agent register NAME --human` on the machine that keeps the ledger comes first"
    return Refused(
        "human_key_required",
        "a person joins from another machine only with the consent of a registered person",
        hint=hint,
    )
