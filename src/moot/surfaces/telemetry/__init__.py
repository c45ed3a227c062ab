"""Spans and metrics of moot itself, by OpenTelemetry: off, until its user says otherwise.

    switch.py          is it on? All that is loaded where it is off
    conventions.py     names of attributes and metrics; the version of OpenTelemetry's own, pinned
    exporting.py       the exporters, and what is measured
    record_counts.py   what was recorded and refused meanwhile, told by the engine
    commands.py        a command of the command line, and with it a run
    hook_calls.py      a call of a coding tool's hook
    participants.py    a participant's call

Nothing that somebody wrote is exported, and no name of a file, unless that is asked for as well.
"""
