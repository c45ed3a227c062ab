"""What people read of observed sessions: each one with its gaps, and all of them in one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from moot.core.clock import Millis, to_text
from moot.core.text import Quoted
from moot.protocols.observed.model import UNGUARDED, Gap, SeenTests, State


class GapView(msgspec.Struct, frozen=True):
    since: str
    until: str
    why: str


class WatchedSessionView(msgspec.Struct, frozen=True, kw_only=True):
    """One session; `id` is its stream, `blind_since` the time since when no hook watches.

    `tests` is the result of tests after the last edit: passed, failed, ran (unknown result) or
    never; None if nothing was edited.
    """

    id: str
    agent: str
    session: Quoted
    since: str
    last: str
    observed: int
    tools: dict[str, int]
    files: int
    gaps: tuple[GapView, ...]
    gap_count: int
    blind_since: str | None
    ended: bool
    tests: str | None = None


def view_session(stream: str, state: State) -> WatchedSessionView:
    return WatchedSessionView(
        id=stream,
        agent=state.agent,
        session=Quoted(state.session),
        since=to_text(state.since),
        last=to_text(state.last_at),
        observed=state.count,
        tools=dict(sorted(state.tools.items())),
        files=state.files,
        gaps=tuple(GapView(to_text(gap.since), to_text(gap.until), gap.why) for gap in state.gaps),
        gap_count=state.gap_count,
        blind_since=None if state.blind_since is None else to_text(state.blind_since),
        ended=state.ended,
        tests=state.tests_after_edit,
    )


_TESTS: Final = {
    SeenTests.PASSED: "tests ran after the last edit: exit 0",
    SeenTests.FAILED: "tests ran after the last edit: failed",
    SeenTests.RAN: "tests ran after the last edit; their result was not seen: a pipe, or a command"
    " behind them, hides the exit code (run them alone, or with `set -o pipefail`)",
    SeenTests.NEVER: "no tests ran after the last edit",
}
_NOT_SEEN: Final = (
    "no run of tests was seen after the last edit; if one of the commands was one, name it in"
    " `tests.command` of moot.toml"
)


def describe_tests(state: State) -> str | None:
    """Return what is known of tests after the last edit; None if nothing was edited.

    Only if no tool at all was used after the edit, and there was no gap, is it sure that none ran.
    """
    tests = state.tests_after_edit
    if tests is None:
        return None
    was_idle = state.count == state.last_edit and not state.gap_count and state.blind_since is None
    return _NOT_SEEN if tests is SeenTests.NEVER and not was_idle else _TESTS[tests]


def count_work(governed: int, sessions: Iterable[State]) -> str:
    """`governed 3, observed 214, gaps 1 (hook off 14:02 to 14:20)`."""
    states = list(sessions)
    gaps = [gap for state in states for gap in state.gaps]
    blind = [state for state in states if state.blind_since is not None]
    gap_count = sum(state.gap_count for state in states) + len(blind)
    spans = [_describe_gap(gap) for gap in gaps[-3:]]
    spans += [f"{state.blind_why} since {_minute(state.blind_since or 0)}" for state in blind[:3]]
    when = f" ({'; '.join(spans)})" if spans else ""
    observed = sum(state.count for state in states)
    return f"governed {governed}, observed {observed}, gaps {gap_count}{when}"


def _describe_gap(gap: Gap) -> str:
    """`hook off 14:02 to 14:20`, `unguarded from 14:02 to 14:20`."""
    word = "from " if gap.why == UNGUARDED else ""
    return f"{gap.why} {word}{_minute(gap.since)} to {_minute(gap.until)}"


def _minute(at: Millis) -> str:
    return to_text(at)[11:16]
