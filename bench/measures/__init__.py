"""One file a question. Each has `measure(ground)`, which yields figures as they are ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from bench.figure import Figure
from bench.ground import Ground

Measure = Callable[[Ground], Iterator[Figure]]

_NAMES = (
    "one_caller",
    "many_processes",
    "many_machines",
    "machine_lines",
    "postgres",
    "verifying",
    "long_history",
    "command_line",
    "hook",
    "presence",
    "presence_crowd",
    "merge_look",
    "destructive_command",
    "artifacts",
    "exporting",
    "sealing",
    "markdown",
    "page",
    "debate_checking",
    "debate_following",
    "debate_appending",
    "debate_turn",
    "decision",
    "track",
    "mail_lint",
    "mail_send",
    "mail_crowd",
    "mail_inbox",
    "trace_append",
    "trace_exec",
    "trace_verify",
    "parliament_submit",
    "mcp",
    "live_page",
)


def _loader(name: str) -> Callable[[], Measure]:
    """Imported when measured: a broken or unfinished part spoils only its own figures."""

    def load() -> Measure:
        measure: Measure = import_module(f"{__name__}.{name}").measure
        return measure

    return load


MEASURES = {name: _loader(name) for name in _NAMES}


def chosen(only: str) -> list[str]:
    """Measures whose name holds `only`; all if it is empty."""
    names = [name for name in MEASURES if only in name]
    if not names:
        raise SystemExit(f"no measure is called {only!r}; there are: {', '.join(MEASURES)}")
    return names
