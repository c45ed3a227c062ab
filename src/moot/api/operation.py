"""The table of all operations: their names, and whether they only read.

`@operation` registers a function. The table feeds the command ids, the reference in docs/, the
choice to open a workspace read-only, and the tests that run every operation through every surface.
MCP, which must not start programs, leaves out operations that do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, TypeVar

import msgspec

Function = TypeVar("Function", bound=Callable[..., Any])

# The public name of a subject, `moot.api.NAME`, and the module of its operations.
SUBJECTS: Final[Mapping[str, str]] = {
    "workspaces": "moot.api.workspace.workspaces",
    "machines": "moot.api.hosts.machines",
    "machine_leaving": "moot.api.hosts.leaving",
    "session_homes": "moot.api.hosts.session_owners",
    "ledger": "moot.api.workspace.ledger",
    "ledger_moving": "moot.api.hosts.ledger_moving",
    "verification": "moot.api.workspace.verification",
    "trust": "moot.api.workspace.trust",
    "artifacts": "moot.api.workspace.artifacts",
    "mail.sending": "moot.api.mail.sending",
    "mail.answers": "moot.api.mail.answers",
    "mail.reading": "moot.api.mail.reading",
    "mail.texts": "moot.api.mail.texts",
    "mail.research": "moot.api.mail.research",
    "mail.runs": "moot.api.mail.runs",
    "agents": "moot.api.presence.agents",
    "agent_keys": "moot.api.presence.agent_keys",
    "admitting": "moot.api.presence.admitting",
    "joining": "moot.api.presence.joining",
    "scopes": "moot.api.presence.scopes",
    "config": "moot.api.presence.config",
    "guard.checks": "moot.api.guard.checks",
    "guard.edits": "moot.api.guard.edits",
    "guard.reading": "moot.api.guard.reading",
    "guard.commands": "moot.api.guard.commands",
    "guard.tool_sessions": "moot.api.guard.tool_sessions",
    "guard.sub_agents": "moot.api.guard.sub_agents",
    "guard.undo": "moot.api.guard.undo",
    "tools": "moot.api.hook_setup.tools",
    "tool_checks": "moot.api.hook_setup.tool_checks",
    "uninstalling": "moot.api.hook_setup.uninstalling",
    "leftovers": "moot.api.workspace.leftovers",
    "explaining": "moot.api.workspace.explaining",
    "debates.reading": "moot.api.debates.reading",
    "debates.writing": "moot.api.debates.writing",
    "debates.proof": "moot.api.debates.proof",
    "debates.runs": "moot.api.debates.runs",
    "parliaments.sessions": "moot.api.parliaments.sessions",
    "parliaments.bills": "moot.api.parliaments.bills",
    "parliaments.files": "moot.api.parliaments.files",
    "parliaments.runs": "moot.api.parliaments.runs",
    "traces.lifecycle": "moot.api.traces.lifecycle",
    "traces.planning": "moot.api.traces.planning",
    "traces.execution": "moot.api.traces.execution",
    "traces.claims": "moot.api.traces.claims",
    "traces.reading": "moot.api.traces.reading",
    "traces.verification": "moot.api.traces.verification",
    "agenda": "moot.api.presence.agenda",
    "status": "moot.api.presence.status",
    "prompt": "moot.api.presence.prompt",
    "plans": "moot.api.presence.plans",
    "events": "moot.api.presence.events",
    "presence": "moot.runner.moot_run",
    "page.sessions": "moot.api.page.sessions",
    "page.conversation": "moot.api.page.conversation",
    "page.messages": "moot.api.page.messages",
    "page.decisions": "moot.api.page.decisions",
    "page.search": "moot.api.page.search",
    "decisions": "moot.api.decisions.operations",
    "councils": "moot.api.decisions.council",
    "outcomes": "moot.api.decisions.outcomes",
    "reports": "moot.api.page.reports",
    "report_site": "moot.api.page.report_site",
    "bridges.protocols": "moot.api.bridges.protocols",
    "bridges.work": "moot.api.bridges.work",
    "bridges.stories": "moot.api.bridges.stories",
}


class Operation(msgspec.Struct, frozen=True):
    """An operation. `name` is the dotted id of its command; `also` are other names."""

    name: str
    function: Callable[..., Any]
    writes: bool
    runs_programs: bool
    also: tuple[str, ...]
    as_ledger: bool = False


OPERATIONS: Final[dict[str, Operation]] = {}


def operation(
    name: str,
    *,
    writes: bool = False,
    runs_programs: bool = False,
    also: str = "",
    as_ledger: bool = False,
    can_use_agent_key: bool = False,
) -> Callable[[Function], Function]:
    """Register a function as the operation `name`; `also` lists other names, separated by spaces.

    `as_ledger`: it also signs with the ledger's own key. A program of `moot run` has only its
    agent's key; then the run executes the operation. `can_use_agent_key`: the program executes it
    itself, with the agent's key, if it concerns no files of the workspace's project.
    """

    def register(function: Function) -> Function:
        assert not (as_ledger and runs_programs), f"{name}: a run starts no programs for others"
        if as_ledger:
            from moot.runner.delegation import delegated  # hooks do not need it

            function = delegated(name, function, can_use_agent_key)
        entry = Operation(name, function, writes, runs_programs, tuple(also.split()), as_ledger)
        for known in (entry.name, *entry.also):
            assert known not in OPERATIONS, f"{known} is registered twice"
            OPERATIONS[known] = entry
        return function

    return register


def all_operations() -> tuple[Operation, ...]:
    """Return every operation once, in the order of the subjects."""
    for module in SUBJECTS.values():
        import_module(module)
    return tuple(dict.fromkeys(OPERATIONS.values()))


def only_reads(name: str) -> bool:
    """Return True if `name` is a known operation that writes nothing, so that it may run read-only.

    Its module is imported, and so it is known, before it can open a workspace.
    """
    known = OPERATIONS.get(name)
    return known is not None and not known.writes
