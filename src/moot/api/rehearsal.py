"""Check whether a command would be refused, before using a name, key or passphrase for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from moot.core.errors import Refused
from moot.core.findings import select_errors
from moot.core.machine import Command, Context, Machine, VerifiedActor

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

S = TypeVar("S")


def require_allowed(
    workspace: Workspace,
    machine: Machine[S],
    stream: str,
    command: Command,
    actor: VerifiedActor,
    *,
    state: S | None = None,
    ignored_codes: frozenset[str] = frozenset(),
) -> None:
    """Raise `Refused` if the machine would refuse this command now; record nothing.

    `state` replaces the recorded one. A refusal only for `ignored_codes` does not count.
    """
    engine = workspace.engine
    if state is None:
        state = engine.state(machine, stream)
    names = tuple(machine.needs_signs_of(state, command))
    signs = engine.signs(names) if names else {}
    context = Context(engine.clock(), actor, stream, workspace.trust.origin, signs)
    decision = machine.decide(state, command, context)
    codes = {finding.code for finding in select_errors(decision.findings)}
    if decision.refused and not (codes and codes <= ignored_codes):
        raise Refused.of(decision.findings)
