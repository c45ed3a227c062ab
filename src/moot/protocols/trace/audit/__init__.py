"""The audit of a recorded trace: fifteen checks over its events, a verdict, a report, a page.

Everything here reads; nothing decides. The same events, facts and profile give the same report, in
every place and at every time, because no clock and no file is asked: what is known about bytes,
signatures, keys and artifacts arrives as `Facts`.

    walk.py          the events gone through once, with the rules that decided them
    checks.py        what each check looks for
    verification.py  the fifteen checks in their order, and the verdict: `audit`
    report.py        the words: Facts, Problem, Check, Report; how grave each code is
    page.py          the report as a page for people

The audit imports the machine's rules; the machine never imports the audit.
"""
