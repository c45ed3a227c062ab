"""What coding tools use, by their own telemetry: `moot run` receives it on loopback.

    meter.py         what a run has used so far, in a file that the user's other processes read
    receiver.py      receive OTLP over HTTP on loopback for one run, with the run's token
    tool_reports.py  find the reports about one call of a model, and read their numbers
    totals.py        what coding tools have used, by agent and by work item
    telemetry/       spans and metrics of Moot itself, by OpenTelemetry; off by default

Only numbers are kept: the rest of a report (some contain whole prompts) never leaves
`tool_reports.py`. A tool that sends nothing has used an unknown amount, which is not zero.
"""
