"""The library: what a person or a program can do with Moot, one typed function each.

    opening.py      `moot.open`: a session for a Python program
    operation.py    the table of all operations: their names, and whether they only read
    rehearsal.py    check whether a command would be refused, before using a name or key for it
    session.py      a session: who acts, from where, on which workspace
    typed_paths.py  paths as people type them: relative to the current folder (B-11)
    bridges/        steps from one protocol to another, and the path that connects them
    debates/        debates, each in one markdown file
    decisions/      a question to participants, a person's ruling, and a receipt that proves both
    guard/          checks before a coding tool edits or runs a command, and what it is told
    hook_setup/     our hooks in the settings of coding tools and in git
    hosts/          several machines on one ledger
    mail/           mail between agents
    observed/       work that hooks of coding tools report, and the periods without hooks
    page/           whole screens for a page that stays open
    parliaments/    parliaments: from the call of a session to its final document
    presence/       the names that may sign here, what they hold, and events between them
    runs/           participants take their turns until there is a result
    traces/         work that can be proved, from a task to a verified report
    workspace/      the workspace and its record as a whole

    with moot.open("path/to/repository", agent="amber-otter") as session:
        moot.api.scopes.reserve(session, ["src/auth"], work="T-7")

Every operation takes a `Session` (who acts, where, on which workspace) and returns a frozen Struct,
the same one that the command line prints as `data`. An operation that is refused raises
`moot.MootError` with a stable code and a hint. The command line, the hooks and all other surfaces
parse, call an operation and render.

An operation is in the module named after its subject, next to what several operations share. A
program calls a subject by its public name (`SUBJECTS` in operation.py), which stays when a module
moves.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.decisions import council as councils  # noqa: F401
    from moot.api.decisions import outcomes as outcomes
    from moot.api.hook_setup import tool_checks as tool_checks
    from moot.api.hook_setup import tools as tools
    from moot.api.hook_setup import uninstalling as uninstalling
    from moot.api.hosts import leaving as machine_leaving  # noqa: F401
    from moot.api.hosts import ledger_moving as ledger_moving
    from moot.api.hosts import machines as machines
    from moot.api.hosts import session_owners as session_homes  # noqa: F401
    from moot.api.page import report_site as report_site
    from moot.api.page import reports as reports
    from moot.api.presence import admitting as admitting
    from moot.api.presence import agenda as agenda
    from moot.api.presence import agent_keys as agent_keys
    from moot.api.presence import agents as agents
    from moot.api.presence import config as config
    from moot.api.presence import events as events
    from moot.api.presence import joining as joining
    from moot.api.presence import plans as plans
    from moot.api.presence import prompt as prompt
    from moot.api.presence import scopes as scopes
    from moot.api.presence import status as status
    from moot.api.workspace import artifacts as artifacts
    from moot.api.workspace import explaining as explaining
    from moot.api.workspace import ledger as ledger
    from moot.api.workspace import leftovers as leftovers
    from moot.api.workspace import trust as trust
    from moot.api.workspace import verification as verification
    from moot.api.workspace import workspaces as workspaces


def __getattr__(name: str) -> ModuleType:
    """Import a subject when it is first used: `moot.api.scopes`, `moot.api.mail.sending`."""
    from moot.api.operation import SUBJECTS

    modules = [SUBJECTS[subject] for subject in SUBJECTS if subject.partition(".")[0] == name]
    if not modules:
        raise AttributeError(f"module 'moot.api' has no attribute {name!r}")
    for module in modules:
        import_module(module)
    is_package = name in ("presence", "decisions") or name not in SUBJECTS
    return import_module(f"moot.api.{name}" if is_package else modules[0])
