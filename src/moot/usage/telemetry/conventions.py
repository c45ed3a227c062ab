"""Names of spans, attributes and metrics, and counts of what this process recorded.

Nothing of OpenTelemetry is imported here. Its names are pinned to one version: the GenAI
conventions still change, and what is exported follows the version below, whatever is installed.
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
# A user of theirs may ask for texts by this variable, too.
CAPTURE_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

# Ours.
COMMAND: Final = "moot.command"
EXIT_CODE: Final = "moot.exit_code"
ACTING: Final = "moot.agent"
TOOL: Final = "moot.tool"
TOOLS: Final = "moot.tools"
MOMENT: Final = "moot.hook.event"
HELD_BACK: Final = "moot.hook.held_back"
FILES: Final = "moot.hook.input"
ENDING: Final = "moot.call.ending"
ATTEMPT: Final = "moot.call.attempt"
COST: Final = "moot.cost.usd"
EVENT: Final = "moot.event"


class RecordCounts:
    """Count events by type and refusals by code as the engine tells them, and pass them on.

    The engine tells of a decision before it is durable: it counts once the store has committed,
    and is dropped if that fails.
    """

    def __init__(self, beside: DebugLog | None = None) -> None:
        self._beside = beside
        self._lock = threading.Lock()
        self._pending: list[tuple[str | None, tuple[str, ...]]] = []
        self._events: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()

    def __call__(self, verb: str, detail: str) -> None:
        if self._beside is not None:
            self._beside(verb, detail)
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
        """Events by type and refusals by code since this was asked last."""
        with self._lock:
            taken = self._events, self._refusals
            self._events, self._refusals = Counter(), Counter()
        return taken
