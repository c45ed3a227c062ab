"""The audit of a recorded trace: fifteen checks over its events, a verdict, a report, a page.

    page.py          A trace as a page: the verdict, what was claimed and objected, what rests
                     on what, every check
    replay.py        one pass over a recorded trace, event by event, with the rules that
                     decided it
    report.py        the input and output of an audit: facts about the bytes, problems, checks,
                     the report
    verification.py  verification of a trace: fifteen named checks in a fixed order, a profile,
                     a verdict

Everything here reads; nothing decides. The same events, facts and profile always give the same
report, because nothing reads a clock or a file: facts about bytes, signatures, keys and artifacts
arrive as `AuditFacts`.

The audit imports the machine's rules; the machine never imports the audit.
"""
