"""Answer git's hooks before a commit, merge or rebase: warn a person, stop an agent.

A commit in the shell of a coding tool's session is an agent's, even if its name is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from moot.api.guard import checks
from moot.api.guard.checks import add_commit_trailer
from moot.core.errors import MootError
from moot.core.text import one_line

if TYPE_CHECKING:
    from moot.api.session import Session

SHOWN: Final = 10
COMMIT_MESSAGE: Final = "commit-msg"


def answer_commit(
    session: Session, hook: str = "pre-commit", arguments: Sequence[str] = ()
) -> tuple[str, int]:
    """Return the message and the exit code.

    If the check fails, agents are stopped and people are not. An agent has a name, or runs in the
    shell of a tool's session.
    """
    try:
        verdict = checks.before_commit(session, hook, arguments)
    except MootError as error:
        return explain_unchecked(error), 1 if is_agents_shell(session) else 0
    if not verdict.held:
        return "", 0
    return _explain(verdict), 0 if verdict.agent is None or verdict.is_too_late else 1


def answer_message(
    session: Session, hook: str = COMMIT_MESSAGE, arguments: Sequence[str] = ()
) -> tuple[str, int]:
    """Add our trailer to the commit message. The commit was checked before; errors never stop
    it."""
    del hook
    try:
        for message in arguments[:1]:
            add_commit_trailer(session, message)
    except MootError as error:
        return f"moot: the commit message does not name its event: [{error.code}] {error}", 0
    return "", 0


def explain_unchecked(error: MootError) -> str:
    hint = f" To fix it: {one_line(error.hint)}." if error.hint else ""
    return f"moot: the commit cannot be checked: [{error.code}] {one_line(str(error))}.{hint}"


def is_agents_shell(session: Session) -> bool:
    """True if the environment names an agent or a tool's session. Reads no record."""
    tool_session = session.tool_session
    return bool(session.acting or (tool_session is not None and tool_session.keys))


def _explain(verdict: checks.CommitVerdict) -> str:
    lines = [f"  {one_line(held.message)}" for held in verdict.held[:SHOWN]]
    if len(verdict.held) > len(lines):
        lines.append(f"  and {len(verdict.held) - len(lines)} more")
    if verdict.is_too_late:
        return "\n".join(["moot: this changed files that others hold:", *lines, "  Tell them."])
    head = "moot: others hold files that are staged here:"
    tail = (
        "  Committed anyway, because you are a person. Tell them."
        if verdict.agent is None
        else "  Nothing was committed. Unstage these (git restore --staged), or ask the holder."
    )
    return "\n".join([head, *lines, tail])
