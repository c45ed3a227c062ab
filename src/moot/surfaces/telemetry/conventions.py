"""Names of spans, attributes and metrics. Those of OpenTelemetry are pinned to one version.

Its GenAI conventions are still being worked on: names change from version to version. What is
exported here follows the version below until this file says otherwise, whatever is installed.
"""

from __future__ import annotations

from typing import Final

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
