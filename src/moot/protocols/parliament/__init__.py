"""Parliament: representatives draft, debate, amend and vote; a person decides.

One stream a session (`parliament/parl-20260210-001`). The clerk and the speaker act as `system`,
a seat with the key of its agent, the prime minister with a person's key.

    messages/     the ten messages in themselves: words, fields, form; nothing there knows a session
    model.py      seats, round, bill, ballot, State  phases.py    TRANSITIONS, what fits where
    commands.py   what may be asked                  events.py    what may stand in the ledger
    rules.py      the rules as tables, those of the messages in messagerules.py; their checks in
                  setup.py, admission.py (who and when), speech.py, outcomes.py
    drafts.py     what is recorded; rounds and votes in rulings.py, the numbering in minutes.py
    evolution.py  what follows from an event, in effects.py from a message
    turns.py      whose turn it is
    machine.py    decide, index, MACHINE
    views.py      what people and agents read

The nouns have a module each: clock, temperatures, concessions, discipline, motives, amendments,
votes, drafter.

    papers.py     the four files as bytes            importing.py files from elsewhere, as events
    summaries.py  what a round came to
    files/        are the four files sound? answered from their bytes alone
    documents/    the final document, the page, what a participant reads
"""
