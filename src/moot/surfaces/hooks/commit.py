"""Before a commit, merge or rebase: a person is warned and may go on, an agent is stopped.

Whoever commits in the shell of a coding tool's session is an agent, even while nobody can say
which one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from moot.api.guard import checks
from moot.core.errors import MootError
from moot.core.quoted import one_line

if TYPE_CHECKING:
    from moot.api.session import Session

SHOWN: Final = 10
COMMIT_MESSAGE: Final = "commit-msg"


def answer_commit(
    session: Session, hook: str = "pre-commit", arguments: Sequence[str] = ()
) -> tuple[str, int]:
    """What is said, and the exit code. If it cannot be checked: closed for agents, not people.

    An agent is whoever has a name, or runs in the shell of a tool's session.
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
    """The commit was checked before. Its message gets a line; trouble with that stops nobody."""
    from moot.api.guard.commit_trailer import add_commit_trailer

    del hook
    try:
        for message in arguments[:1]:
            add_commit_trailer(session, message)
    except MootError as error:
        return f"moot: this commit does not name its event: [{error.code}] {error}", 0
    return "", 0


def explain_unchecked(error: MootError) -> str:
    hint = f" To fix it: {one_line(error.hint)}." if error.hint else ""
    return f"moot: the commit cannot be checked: [{error.code}] {one_line(str(error))}.{hint}"


def is_agents_shell(session: Session) -> bool:
    """By its name, or by the session that the shell belongs to; nothing is looked up for it."""
    tool_session = session.tool_session
    return bool(session.acting or (tool_session is not None and tool_session.keys))


def _explain(verdict: checks.CommitVerdict) -> str:
    lines = [f"  {one_line(held.message)}" for held in verdict.held[:SHOWN]]
    if len(verdict.held) > len(lines):
        lines.append(f"  and {len(verdict.held) - len(lines)} more")
    if verdict.is_too_late:
        return "\n".join(["moot: this changed what others hold:", *lines, "  Tell them."])
    head = "moot: others hold what is staged here:"
    tail = (
        "  Committed all the same: you are a person. Tell them."
        if verdict.agent is None
        else "  Nothing was committed. Unstage these (git restore --staged), or ask the holder."
    )
    return "\n".join([head, *lines, tail])
