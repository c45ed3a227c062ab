"""Trace, after the Agent Protocol: what was done, by whom, with what proof.

A task is worked on by four agents with keys of their own. The planner proposes, the critic reviews,
the executor says exactly what it will run, runs it and claims what it found; the auditor verifies
all of it. A person, or the workspace itself, opens a trace and may abort it.

    initialized -> planning -> reviewing -> executing -> claiming -> auditing -> completed
                                            any of them -> failed, aborted

Where to look
    model.py        the nouns and the state; only what is open is in the state
    policy.py       what one trace allows, fixed in its first event
    commands.py     what may be asked          events.py     what may stand in the ledger
    roles.py        who may record what        lifecycle.py  the nine states as tables
    rules.py        the rules by kind of event, with tool_rules.py, claim_rules.py and
                    wording_rules.py; the checks behind them: checks.py, tool_checks.py,
                    claim_checks.py, wording_checks.py; case.py is what a check looks at
    drafts.py       command -> event           evolution.py  event -> state
    risk.py         how risky, and why the critic must agree
    tool_input.py       the one form and hash of what is run
    left_artifacts.py        which artifacts the runs have left
    machine.py      decide, index, MACHINE     agenda.py     what waits, and for whom
    audit/          fifteen checks, profiles, a verdict, a report and its page
    codec.py        events as plain JSON       views.py      what people and agents read

Two things differ from the siblings. The rules are asked of events, not of commands: so an audit of
a recorded trace asks the very same questions that were asked when it was written. And nothing
here times out: a run has a time limit of its own, and only a person ends a trace early.
"""
