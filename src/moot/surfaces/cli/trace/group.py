"""What the commands of a trace have in common: which trace, who acts, what comes back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Unavailable
from moot.core.names import SYSTEM
from moot.flows.trace import execution, tracing
from moot.protocols.trace import policy as policies
from moot.protocols.trace.model import Role, State
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell

SUPERSEDES = click.option("--supersedes", metavar="ID", help="The one this replaces.")

if TYPE_CHECKING:
    from moot.core.machine import Command
    from moot.engine.job import Outcome
    from moot.protocols.trace.commands import Cited


class Desk:
    """One trace, for one command."""

    def __init__(self, shell: Shell, name: str) -> None:
        self.shell = shell
        self.space = shell.workspace
        self.stream = tracing.existing(self.space, name)
        self.name = tracing.short(self.stream)

    @property
    def state(self) -> State:
        state: State = self.space.engine.state(self.stream)
        return state

    def actor(self, role: Role) -> str:
        """Who acts: as told, else whoever plays the part; whether the key is here, the engine
        asks."""
        if self.shell.acting:
            return self.shell.actor()
        return self.shell.actor(tracing.player(self.state, role))

    def ask(self, role: Role, command: Command) -> Outcome:
        """What died with its process is on record first; then the command decides."""
        actor = self.actor(role)
        execution.recover(self.space, self.stream)
        return tracing.ask(self.space, self.stream, command, actor)

    def command(self, command: Command) -> Outcome:
        """What only a person, or the workspace itself, may do."""
        return self.space.engine.execute(self.stream, command, in_charge(self.shell))

    def recover(self) -> list[Outcome]:
        """Overdue for everyone; signed by the executor, if its key is here."""
        return execution.recover(self.space, self.stream)

    def rotation(self, role: Role, reason: str) -> Command:
        """The part's agent with the key it has now."""
        from moot.engine.agents import agent_named
        from moot.protocols.trace.commands import RotateKey

        agent = agent_named(self.space.engine, tracing.player(self.state, role))
        return RotateKey(role=str(role), epoch=agent.epoch, kid=agent.kid, reason=reason)

    def cited(self, evidence: Iterable[str]) -> tuple[Cited, ...]:
        return tuple(tracing.cited(self.space, self.stream, one) for one in evidence)

    def runs(self, named: Iterable[str], evidence: Iterable[str]) -> tuple[str, ...]:
        """The runs a claim is about: as named, and those whose outputs it cites."""
        cited = (one.partition("/")[0] for one in evidence if "/" in one)
        return tuple(dict.fromkeys((*named, *cited)))

    def answer(self, outcome: Outcome, data: dict[str, Any], said: str) -> Answer:
        from moot.surfaces.terminal.answer import findings_json

        whole = {"trace": self.name, **data, "state": str(outcome.state.stage)}
        whole["findings"] = findings_json(outcome.findings)
        return Answer(whole, lambda: [said, *remarks(outcome.findings)])


def in_charge(shell: Shell) -> str:
    """A person who says so, else the workspace itself. An agent that says so is refused later."""
    return shell.actor() if shell.acting else SYSTEM


def new_trace(
    shell: Shell, task: str, roles: dict[Role, str], policy: Path | None, follows: str | None
) -> Answer:
    from moot.surfaces.terminal.answer import findings_json

    space = shell.workspace
    rules = policies.DEFAULT_POLICY if policy is None else _policy(policy)
    after = None if follows is None else tracing.existing(space, follows)
    outcome = tracing.open_trace(space, task, roles, in_charge(shell), rules, after)
    name = tracing.short(outcome.stream)
    data = {
        "trace": name,
        "id": outcome.stream,
        "roles": {str(role): agent for role, agent in roles.items()},
        "findings": findings_json(outcome.findings),
    }
    said = f"{name} is open: {roles[Role.PLANNER]} proposes (`moot trace propose {name}`)"
    return Answer(data, lambda: [said, *remarks(outcome.findings)])


def _policy(file: Path) -> policies.Policy:
    try:
        with file.open("rb") as opened:
            data = opened.read(policies.MAX_BYTES + 1)
    except OSError as error:
        raise Unavailable(
            "unreadable_file", f"{file}: {error.strerror or error}", hint="check the path"
        ) from None
    return policies.parse_policy(data)
