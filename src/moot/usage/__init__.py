"""What coding tools use, by their own telemetry: taken on loopback while a `moot run` lives.

    meter.py         what a run has used so far, in a file beside it: read by others of its user
                     while it lives
    receiver.py      takes OTLP over HTTP on loopback for one run: from whoever has the run's
                     token, and nobody else
    tool_reports.py  which reports of the coding tools name one call of a model, and what of
                     them counts
    totals.py        what coding tools have used, by agent and by work item: from the record,
                     and from runs that live
    telemetry/       spans and metrics of moot itself, by OpenTelemetry: off, until its user
                     says otherwise

Only numbers are kept: of all else that a tool sends (some send whole prompts) nothing leaves
`tool_reports.py`. A tool that sends nothing has used an unknown amount, which is not zero.
"""
