"""What coding tools use, by their own telemetry: taken on loopback while a `moot run` lives.

    tool_switches.py    how each tool is told to send here, and when its user's own settings win
    receiver.py         the loopback listener: OTLP over HTTP, for whoever has the run's token
    otlp_request.py     a request's bytes as a document: JSON, or protobuf where that can be read
    tool_reports.py     which reports of which tool name a call of a model, and what of it counts
    meter.py            the sum of one run
    live_usage.py       the sum beside the run, for others to read while it lives

Only numbers are kept: of all else that a tool sends (some send whole prompts) nothing leaves
`tool_reports.py`. A tool that sends nothing has used an unknown amount, which is not zero.
"""
