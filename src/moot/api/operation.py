"""What can be done with Moot, as one table: each operation's name, and whether it only reads.

`@operation` registers a function of this package. The table feeds the
command ids, the reference in docs/, the choice to open a workspace read-only, and the tests that
run every operation through every way in. A way in that must not start programs (MCP) leaves out
those that do.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeVar

import msgspec

Function = TypeVar("Function", bound=Callable[..., Any])

# The modules of this package that hold operations, by subject.
SUBJECTS: Final = (
    *(
        "workspaces",
        "machines",
        "machine_leaving",
        "session_homes",
        "ledger",
        "ledger_moving",
        "verification",
        "trust",
        "artifacts",
    ),
    *("mail.sending", "mail.answers", "mail.reading", "mail.texts", "mail.research", "mail.runs"),
    *("agents", "agent_keys", "admitting", "joining", "scopes", "config"),
    *(
        "guard.checks",
        "guard.edits",
        "guard.reading",
        "guard.commands",
        "guard.tool_sessions",
        "guard.sub_agents",
        "guard.undo",
    ),
    *("tools", "tool_checks", "uninstalling", "leftovers", "explaining"),
    *("debates.reading", "debates.writing", "debates.proof", "debates.runs"),
    *("parliaments.sessions", "parliaments.bills", "parliaments.files", "parliaments.runs"),
    *("traces.lifecycle", "traces.planning", "traces.execution", "traces.claims"),
    *("traces.reading", "traces.verification"),
    *("agenda", "status", "prompt", "plans", "events", "presence"),
    *("page.sessions", "page.conversation", "page.messages", "page.decisions", "page.search"),
    *(
        "decisions",
        "councils",
        "outcomes",
        "reports",
        "report_site",
        "bridges.protocols",
        "bridges.work",
        "bridges.stories",
    ),
)


class Operation(msgspec.Struct, frozen=True):
    """One thing that can be done. `name` is the dotted id of its command; `also` are its others."""

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
    can_do_without: bool = False,
) -> Callable[[Function], Function]:
    """Register a function as the operation `name`; `also` lists its other names, with spaces.

    `as_ledger`: it signs with the ledger's own key, too. Where that key is not, because `moot run`
    has lent an agent a folder with its own key alone, that run does it. One that `can_do_without`
    it then vouches with the agent's key where the ledger's would.
    """

    def register(function: Function) -> Function:
        assert not (as_ledger and runs_programs), f"{name}: a run starts no programs for others"
        if as_ledger:
            from moot.api.runner_delegation import delegated  # hooks get by without

            function = delegated(name, function, can_do_without)
        entry = Operation(name, function, writes, runs_programs, tuple(also.split()), as_ledger)
        for known in (entry.name, *entry.also):
            assert known not in OPERATIONS, f"{known} is registered twice"
            OPERATIONS[known] = entry
        return function

    return register


def all_operations() -> tuple[Operation, ...]:
    """Every operation, each once, in the order of the subjects."""
    for subject in SUBJECTS:
        import_module(f"moot.api.{subject}")
    return tuple(dict.fromkeys(OPERATIONS.values()))


def only_reads(name: str) -> bool:
    """True if `name` is a known operation that writes nothing, so that it may run read-only.

    An operation is known once its module is imported, which is before it can open a workspace.
    """
    known = OPERATIONS.get(name)
    return known is not None and not known.writes
