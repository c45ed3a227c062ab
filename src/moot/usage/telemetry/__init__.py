"""Spans and metrics of moot itself, by OpenTelemetry: off, until its user says otherwise.

    conventions.py  names of spans, attributes and metrics, and counts of what this process
                    recorded
    exporting.py    what this process exports: its exporters, its tracer, and its measurements
    spans.py        A call of a coding tool's hook as a span: which tool, which moment, whether
                    it was held back
    switch.py       is telemetry of moot itself on?

Nothing that somebody wrote is exported, and no name of a file, unless that is asked for as well.
"""
