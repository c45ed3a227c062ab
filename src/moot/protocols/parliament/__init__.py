"""Parliament: representatives draft, debate, amend and vote; a person decides.

One stream a session (`parliament/parl-20260210-001`). The clerk and the speaker act as `system`,
a seat with the key of its agent, the prime minister with a person's key.

    messages/            the ten messages in themselves: words, fields, form; they know no session
    model.py             seats, round, bill, ballot, State
    commands.py          what may be asked
    events.py            what may stand in the ledger
    case.py              a command under check, with what its rules look up
    rules.py             the rules of a session as tables
    message_rules.py     those of the messages: does each fit the moment?
    setup_checks.py      the checks on a new session
    admission_checks.py  who may ask, and when
    speech_checks.py     the checks on what seats say
    outcome_checks.py    those on amendments, votes, rulings and summaries
    command_events.py    the events of each command
    ruling_events.py     the events of rounds and votes
    minutes.py           events as they are collected, and numbered
    phases.py            TRANSITIONS, and what belongs to which phase
    evolution.py         the state after an event
    message_effects.py   the state after a message, type by type
    turns.py             whose turn it is
    machine.py           decide, index, MACHINE
    views.py             what people and agents read

Each idea in its own file:

    clock.py             exchanges and sentences left
    temperatures.py      drawn for each round
    motives.py           what keeps a vote from being called
    concessions.py       who may give way, and when
    amendments.py        positions and support
    discipline.py        quiet and expelled seats
    votes.py             the ballot and its tally
    drafter.py           who drafts the bill
    short_forms.py       messages that people type in a few words

Files and pages:

    session_files.py     the four files as bytes
    importing.py         files become events
    summaries.py         what a round came to
    files/               are the four files sound? answered from their bytes alone
    documents/           the final document, the page, what a participant reads

The folders import in one direction: documents, then the files here, then files/, then messages/.
"""
