"""Names of spans, attributes and metrics, and counts of what this process recorded.

This imports nothing of OpenTelemetry. The GenAI conventions still change, so their names are pinned
to the version below, whatever version is installed.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Final

from moot.core.debug import read_decision

if TYPE_CHECKING:
    from moot.core.debug import DebugLog

GENAI_VERSION: Final = "1.44.0"
SCHEMA_URL: Final = f"https://opentelemetry.io/schemas/{GENAI_VERSION}"
SCOPE: Final = "moot"

# OpenTelemetry's own.
OPERATION: Final = "gen_ai.operation.name"
INVOKE_AGENT: Final = "invoke_agent"
PROVIDER: Final = "gen_ai.provider.name"
AGENT: Final = "gen_ai.agent.name"
MODEL: Final = "gen_ai.request.model"
TOKENS_IN: Final = "gen_ai.usage.input_tokens"
TOKENS_OUT: Final = "gen_ai.usage.output_tokens"
OUTPUT: Final = "gen_ai.output.messages"
TOKEN_TYPE: Final = "gen_ai.token.type"
TOKEN_USAGE: Final = "gen_ai.client.token.usage"
ERROR: Final = "error.type"
ARGUMENTS: Final = "process.command_args"
# OpenTelemetry's variable for exporting texts, which we honour too.
CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

# Ours.
COMMAND: Final = "moot.command"
EXIT_CODE: Final = "moot.exit_code"
ACTING: Final = "moot.agent"
TOOL: Final = "moot.tool"
TOOLS: Final = "moot.tools"
MOMENT: Final = "moot.hook.event"
WAS_REFUSED: Final = "moot.hook.held_back"
FILES: Final = "moot.hook.input"
ENDING: Final = "moot.call.ending"
ATTEMPT: Final = "moot.call.attempt"
COST: Final = "moot.cost.usd"
EVENT: Final = "moot.event"


class RecordCounts:
    """A debug log that counts events by type and refusals by code, and calls the `inner` log.

    The engine logs a decision before it is durable, so it is counted after the store has committed
    and dropped if that fails.
    """

    def __init__(self, inner: DebugLog | None = None) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._pending: list[tuple[str | None, tuple[str, ...]]] = []
        self._events: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()

    def __call__(self, verb: str, detail: str) -> None:
        if self._inner is not None:
            self._inner(verb, detail)
        if verb == "decide":
            decision = read_decision(detail)
            self._pending.append((decision.refusal, decision.events))
        elif verb == "commit":
            self._count()
        elif verb == "rollback":
            self._pending.clear()

    def _count(self) -> None:
        with self._lock:
            for refusal, events in self._pending:
                self._events.update(events)
                if refusal is not None:
                    self._refusals[refusal] += 1
            self._pending.clear()

    def take(self) -> tuple[Counter[str], Counter[str]]:
        """Return events by type and refusals by code since the last call."""
        with self._lock:
            taken = self._events, self._refusals
            self._events, self._refusals = Counter(), Counter()
        return taken
