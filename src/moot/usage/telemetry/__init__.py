"""Spans and metrics of Moot itself, by OpenTelemetry; off by default.

    conventions.py  names of spans, attributes and metrics; counts of what this process recorded
    exporting.py    the exporters, the tracer and the measurements of this process
    spans.py        a span for each hook call of a coding tool and each call of a participant
    switch.py       is telemetry of Moot itself on?

Texts and file names are exported only if the user asks for them separately.
"""
