"""Callbacks of `moot run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess

    from moot.core.findings import Finding
    from moot.runner.requests import AnswerHook
    from moot.usage.totals import UsageView


class RunWatch:
    """Override the callbacks that you need. Nothing is registered before `arrived`."""

    def installed_hooks(self, tool: str) -> None:
        """Hooks of a coding tool were missing, and were installed."""

    def consents_to_trust(self, _tool: str, _problems: Sequence[Finding]) -> bool:
        """Return whether the user trusts our hooks in this tool; only a person may agree."""
        return False

    def consents_to_adoption(self, _name: str, _unfinished: str) -> bool:
        """Return whether to continue the unfinished work of an earlier session of this name."""
        return False

    def arrived(self, name: str) -> None:
        """The agent has joined and holds its scopes; no program has started."""

    def unguarded(self, tool: str, problems: Sequence[Finding]) -> None:
        """A tool is about to start unguarded, as requested."""

    def starting(self, name: str, tools: Sequence[str]) -> None:
        """The program is about to be started; it is, or starts, these coding tools."""

    def started(self, program: subprocess.Popen[bytes]) -> None:
        """The program runs: from now on signals can be passed on to it."""

    def noticed(self, line: str) -> None:
        """Something changed what others hold, or that cannot be watched; at the end, how tests
        ended."""

    def silent_tool(self, tool: str) -> None:
        """A coding tool runs below the program, and its hook has not run yet."""

    def unasked_call(self, tool: str) -> None:
        """A coding tool's own files show a call for which no hook ran."""

    def hooks_lost(self, tool: str, worktree: str, *, is_kept: bool) -> None:
        """Settings have lost our hooks while their tool runs; `is_kept`: it keeps those it has."""

    def hooks_heard(self, tool: str) -> None:
        """A tool whose settings had lost our hooks still runs them."""

    def unseen_changes(self, files: Sequence[str]) -> None:
        """A coding tool has ended, no hook ran, and these files have changed meanwhile."""

    def usage_unknown(self, tool: str, why: str) -> None:
        """The usage of this tool will stay unknown, although it was requested."""

    def used(self, tools: Sequence[str], usage: UsageView) -> None:
        """The tools of the run reported their usage; it is recorded."""

    def trace_variables(self) -> Mapping[str, str]:
        """Return variables that tell the program which trace it is part of; usually none."""
        return {}

    # Answers the hooks of a coding tool below the program; None: they answer themselves.
    answer_hook: AnswerHook | None = None

    def failed(self, what: str, error: Exception) -> None:
        """Something other than the program failed; the run continues."""


UNWATCHED: Final = RunWatch()
