"""Trace, after the Agent Protocol: what was done, by whom, with what proof.

    checks.py          the checks behind the rules: each yields `(message, where)` for every
                       breach it finds
    command_events.py  the event that a command asks for, whether or not the rules will allow it
    commands.py        the commands of a trace
    events.py          the events of a trace
    evolution.py       the state after an event
    lifecycle.py       the nine states of a trace and the eight ways between them, as tables
    machine.py         the automaton of one trace
    model.py           the nouns of one trace: who plays which part, what is proposed, intended,
                       run and claimed
    policy.py          what a trace allows, fixed when it begins: risks of tools, bounds, who
                       must agree, secrets
    rules.py           the rules of a trace, one row each: the norm's id, its code, its
                       sentence, its check
    tool_checks.py     checks on intents and runs
    views.py           what people and agents read of a trace: where it stands, and its story
                       line by line
    audit/             the audit of a recorded trace: fifteen checks over its events, a verdict,
                       a report, a page

Four agents, each with its own key, work on a task. The planner proposes, the critic reviews, the
executor says exactly what it will run, runs it and claims what it found; the auditor verifies all
of it. A person, or the workspace itself, opens a trace and may abort it.

    initialized -> planning -> reviewing -> executing -> claiming -> auditing -> completed
                                            any of them -> failed, aborted

Two things differ from other protocols. The rules check events, not commands, so that an audit of a
recorded trace applies the same rules as when it was written. And nothing here times out: each run
has its own time limit, and only a person ends a trace early.
"""
