"""The audit of a recorded trace: fifteen checks over its events, a verdict, a report, a page.

    page.py          A trace as a page: the verdict, what was claimed and objected, what rests
                     on what, every check
    replay.py        A recorded trace gone through once, event by event, with the same rules
                     that decided it
    report.py        what an audit takes in and gives back: facts about the bytes, problems,
                     checks, the report
    verification.py  verification of a trace: fifteen named checks in a fixed order, a profile,
                     a verdict

Everything here reads; nothing decides. The same events, facts and profile give the same report, in
every place and at every time, because no clock and no file is asked: what is known about bytes,
signatures, keys and artifacts arrives as `Facts`.

The audit imports the machine's rules; the machine never imports the audit.
"""
